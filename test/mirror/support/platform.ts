import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Writes files below a folder, which then is a repository to list and mirror. */
export async function writeFiles(folder: string, files: Record<string, string | Uint8Array>): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

/** A Plugin of plain manifests that runs these images. */
export function runs(name: string, ...images: string[]): Record<string, string> {
  const containers = images.map((image, index) => ({ name: `c${index}`, image }));
  const pod = { metadata: { labels: { app: name } }, spec: { containers } };
  const spec = { selector: { matchLabels: { app: name } }, template: pod };
  return {
    [`plugins/${name}.yaml`]: JSON.stringify({
      apiVersion: 'espalier.dev/v1alpha1',
      kind: 'Plugin',
      metadata: { name },
      spec: { kind: 'manifests', source: { git: { path: `apps/${name}` } } },
    }),
    [`apps/${name}/app.yaml`]: JSON.stringify({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec }),
  };
}

/** A file for `--settings`. */
export function syncYaml(spec: object): string {
  return JSON.stringify({
    apiVersion: 'espalier.dev/v1alpha1',
    kind: 'Sync',
    metadata: { name: 'platform', namespace: 'espalier-system' },
    spec: { repository: { url: 'https://git.example.com/platform.git' }, ...spec },
  });
}
