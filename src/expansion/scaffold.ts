import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EspalierError } from '../api/index.ts';
import { writeTgz } from '../charts/tar-write.ts';
import { cantWrite } from './cant-write.ts';

const YAML = (name: string): string => `# An expansion package; every field is in docs/expansion.md.
expansion_name: ${name}
expansion_version: v0.1.0
values:
  greeting: hello
  hookImage: docker.io/library/busybox:1.37   # what hooks run in, in a cluster
charts: [${name}-0.1.0.tgz]                # in charts/
images: []                               # in images.tar.gz
files: [etc/modules-load.d/${name}.conf]   # in files/, for the nodes
hooks: [post-install]                    # in hooks/
provider: []                             # in provider/
installer_skip_steps: []
create_cluster_skip_conditions: []
create_cluster_delegate_conditions: []
images_loaded: false
disable_pass_through_to_platform: false
`;

const HOOK = (name: string): string => `#!/bin/sh
set -eu
echo "${name} is installed"
`;

const CONFIG_MAP = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  greeting: {{ .Values.greeting | quote }}
`;

/** Writes a package that passes the check. Only into an empty folder, or a new one. */
export async function newPackage(folder: string, name: string): Promise<string[]> {
  if (folder === '')
    throw new EspalierError('InvalidConfiguration', 'the folder has no name; name a new one', { retry: false });
  const there = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new EspalierError('InvalidConfiguration', `${folder} is no folder; name a new one`, {
      cause: error,
      retry: false,
    });
  });
  if (there.length > 0)
    throw new EspalierError('InvalidConfiguration', `${folder} is not empty; name a new folder`, { retry: false });
  const texts: [string, string][] = [
    ['expansion.yaml', YAML(name)],
    [`files/etc/modules-load.d/${name}.conf`, 'br_netfilter\n'],
    ['hooks/post-install', HOOK(name)],
  ];
  const chart = `charts/${name}-0.1.0.tgz`;
  try {
    for (const [path, text] of texts) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text, { mode: path.startsWith('hooks/') ? 0o755 : 0o644 });
    }
    await mkdir(join(folder, 'charts'));
    await writeTgz(join(folder, chart), chartFiles(name));
  } catch (error) {
    cantWrite(folder, error);
  }
  return [...texts.map(([path]) => path), chart];
}

async function* chartFiles(name: string): AsyncGenerator<{ path: string; data: Uint8Array }> {
  const files = {
    'Chart.yaml': `apiVersion: v2\nname: ${name}\nversion: 0.1.0\n`,
    'values.yaml': 'greeting: hello\n',
    'templates/configmap.yaml': CONFIG_MAP,
  };
  for (const [path, text] of Object.entries(files)) yield { path: `${name}/${path}`, data: Buffer.from(text) };
}
