import type { JsonObject, KubeObject } from '../../src/api/index.ts';
import type { FileTree } from '../../src/git/tree.ts';
import type { RenderTools } from '../../src/render/contained.ts';
import { type RenderInput, renderPlugin } from '../../src/render/render.ts';
import { textTree } from '../declare/text-tree.ts';

type Way = 'manifests' | 'template' | 'kustomize';

/** Renders files of a made-up commit, by default those in `app`. */
export function render(
  way: Way,
  files: Record<string, string | Uint8Array> | FileTree,
  over: Partial<RenderInput> & { values?: JsonObject; path?: string } = {},
  tools?: RenderTools,
): Promise<{ objects: KubeObject[]; warnings: string[] }> {
  const path = over.path ?? 'app';
  return renderPlugin(
    {
      plugin: {
        metadata: { name: 'web', namespace: 'sys' },
        spec: {
          kind: way === 'kustomize' ? 'kustomize' : 'manifests',
          source: { git: { path, template: way === 'template' } },
        },
      },
      tree: isTree(files) ? files : textTree(files),
      path,
      ...over,
    },
    tools,
  );
}

function isTree(files: object): files is FileTree {
  return 'walk' in files && typeof files.walk === 'function';
}

/** Names of objects, as `Kind name`. */
export function names(rendered: { objects: KubeObject[] }): string[] {
  return rendered.objects.map((object) => `${object.kind} ${object.metadata.name}`).sort();
}

export function config(name: string, data = 'a: "1"'): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  ${data}\n`;
}
