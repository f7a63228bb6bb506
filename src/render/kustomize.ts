import { EspalierError } from '../api/index.ts';
import { lastWords, runContained } from './contained.ts';
import { scanKustomization } from './kustomize-scan.ts';
import { parseObjects } from './parse-stream.ts';
import { withPrivateFolder, writeFiles } from './private-folder.ts';
import type { RenderContext, RenderedObjects } from './render-input.ts';
import { Reader } from './source-files.ts';

/** What `kustomize build` makes of a folder, with nothing in reach but the files that it refers to. */
export async function renderKustomize(context: RenderContext): Promise<RenderedObjects> {
  const { tree, path, limits, signal, secrets, tools } = context;
  const scan = await scanKustomization(tree, path, { limits, signal, within: context.within });
  const { stdout, stderr } = await withPrivateFolder(async (folder) => {
    const reader = new Reader(tree, limits, signal);
    const files = new Map<string, Uint8Array | string>();
    for (const [file, content] of scan.kustomizations) files.set(`repository/${file}`, content);
    for (const file of scan.files) files.set(`repository/${file}`, await reader.bytes(file));
    await writeFiles(folder, files);
    const result = await runContained(tools, {
      tool: 'kustomize',
      args: [
        'build',
        `repository/${scan.root}`,
        '--load-restrictor=LoadRestrictionsRootOnly',
        '--enable-alpha-plugins=false',
        '--enable-exec=false',
        '--enable-helm=false',
        '--network=false',
      ],
      folder,
      timeoutMs: context.remainingMs(),
      outputBytes: limits.outputBytes,
      secrets,
      signal,
    });
    if (result.code !== 0) {
      const reason = lastWords(result.stderr).replaceAll(`${folder}/repository/`, '');
      throw new EspalierError('RenderFailed', `kustomize build ${path}: ${reason}`, { data: { path } });
    }
    return result;
  });
  const objects = await parseObjects(stdout, `kustomize build ${path}`, () => path, { limits, signal });
  return { objects, warnings: deprecations(stderr, path) };
}

function deprecations(stderr: string, path: string): string[] {
  const marked = stderr.split('\n').filter((line) => line.startsWith('# Warning: '));
  return [...new Set(marked)].map((line) => `${path}: ${line.slice('# Warning: '.length)}`);
}
