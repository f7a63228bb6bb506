import { EspalierError, isError, type JsonObject, type KubeObject, type PluginSpec } from '../api/index.ts';
import type { FileTree } from '../git/tree.ts';
import { runProgram } from '../tools/run.ts';
import { toolPath } from '../tools/tool.ts';
import type { RenderTools } from './contained.ts';
import { renderKustomize } from './kustomize.ts';
import { DEFAULT_RENDER_LIMITS, type RenderLimits } from './limits.ts';
import { renderManifests } from './manifests.ts';
import type { RenderContext, RenderedObjects, RenderFacts } from './render-input.ts';
import { refuseDuplicates, roundedNumbers } from './rendered.ts';
import { renderTemplates } from './templates.ts';

export interface RenderInput {
  plugin: {
    metadata: { name: string; namespace?: string };
    spec: Pick<PluginSpec, 'kind' | 'source' | 'namespace'>;
  };
  /** The commit that the Plugin's source is read at. */
  tree: FileTree;
  path: string;
  /** Folder that no reference of a kustomization may leave, such as that of the Sync. Absent: the repository. */
  within?: string;
  /** Namespace that the objects go to. Absent: that of the Plugin's spec. */
  targetNamespace?: string;
  /** Effective values, of which `secrets` are those that must not turn up in any message. */
  values?: JsonObject;
  secrets?: readonly string[];
  facts?: RenderFacts;
  signal?: AbortSignal;
  limits?: Partial<RenderLimits>;
}

export const REAL_TOOLS: RenderTools = { run: runProgram, path: toolPath };

/**
 * Makes the objects of a Plugin from a folder in Git or in a download. The same input gives the same objects; nothing is reached but
 * the given tree. Objects come out as they were written: see `finishObjects` for namespaces, patches and labels.
 */
export async function renderPlugin(
  input: RenderInput,
  tools: RenderTools = REAL_TOOLS,
): Promise<{ objects: KubeObject[]; warnings: string[] }> {
  const limits = { ...DEFAULT_RENDER_LIMITS, ...input.limits };
  const { name, namespace = '' } = input.plugin.metadata;
  const deadline = performance.now() + limits.timeoutMs;
  const timeout = AbortSignal.timeout(limits.timeoutMs);
  const context: RenderContext = {
    plugin: { namespace, name },
    tree: input.tree,
    path: input.path,
    within: input.within,
    targetNamespace: input.targetNamespace ?? input.plugin.spec.namespace?.name ?? namespace,
    values: input.values ?? {},
    facts: input.facts ?? {},
    limits,
    secrets: input.secrets ?? [],
    signal: input.signal === undefined ? timeout : AbortSignal.any([input.signal, timeout]),
    tools,
    remainingMs: () => Math.max(1, deadline - performance.now()),
  };
  try {
    const { objects, warnings } = await rendererOf(input)(context);
    refuseDuplicates(objects);
    return { objects: objects.map(({ object }) => object), warnings: [...warnings, ...roundedNumbers(objects)] };
  } catch (error) {
    if (input.signal?.aborted === true) {
      throw new EspalierError('Aborted', `rendering ${input.path} was given up`, { cause: input.signal.reason });
    }
    // A program has what is left of our time, and may be the first to notice that it is over.
    if (!timeout.aborted && !isError(error, 'ProgramTimedOut')) throw error;
    throw new EspalierError(
      'ProgramTimedOut',
      `rendering ${input.path} did not end within ${limits.timeoutMs / 1000} s and was stopped`,
      {
        data: { path: input.path, timeoutMs: limits.timeoutMs },
      },
    );
  }
}

function rendererOf({ plugin, path }: RenderInput): (context: RenderContext) => Promise<RenderedObjects> {
  const { kind, source } = plugin.spec;
  if (kind === 'kustomize') return renderKustomize;
  if (kind === 'manifests')
    return (source.git ?? source.download)?.template === true ? renderTemplates : renderManifests;
  throw new EspalierError(
    'RenderRefused',
    `${path}: kind ${kind} is made from a chart, not from a folder of manifests`,
    {
      retry: false,
    },
  );
}
