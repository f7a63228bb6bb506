import {
  ANNOTATION,
  FINALIZER,
  isError,
  type KubeObject,
  LABEL,
  type Plugin,
  refKey,
  refOf,
  type Sync,
} from '../api/index.ts';
import type { Declared } from '../declare/declarations.ts';
import { originText } from '../declare/origin.ts';
import type { FileTree } from '../git/tree.ts';
import { kustomizeInputs } from '../render/kustomize-inputs.ts';
import { contentKey } from '../resolve/key.ts';

/** One object that a revision declares, as the Sync writes it. */
export interface Wanted {
  /** `refKey`. */
  key: string;
  object: KubeObject;
  inputs: string;
}

/** What is written for an object: as declared, or made of declarations. */
export type Writable = Pick<Declared, 'object' | 'inputs' | 'parts'>;

/** A declaration as it is written to the cluster, or why it can't be: what it names may be wrong though its text is right. */
export async function makeWanted(
  sync: Sync,
  tree: FileTree,
  declared: Writable,
): Promise<Wanted | { refused: string }> {
  const allowed = sync.spec.allowedNamespaces;
  const outside = namespacesOf(declared.object).find(
    (one) => allowed !== undefined && one !== sync.metadata.namespace && !allowed.includes(one),
  );
  if (outside !== undefined)
    return { refused: `the namespace "${outside}" is not among spec.allowedNamespaces of the Sync` };
  try {
    return await wantedOf(sync, tree, declared);
  } catch (error) {
    // Of the repository's content; anything else (a damaged store, an abort) says nothing about the declaration.
    if (isError(error, 'RenderRefused', 'RenderFailed', 'SourceMissing', 'GitUnsafePath', 'InvalidDeclaration'))
      return { refused: error.message };
    throw error;
  }
}

async function wantedOf(sync: Sync, tree: FileTree, declared: Writable): Promise<Wanted> {
  const { metadata, ...rest } = declared.object;
  const object: KubeObject = {
    ...rest,
    metadata: {
      ...metadata,
      labels: {
        ...withoutParent(metadata.labels),
        [LABEL.sync]: sync.metadata.name,
        [LABEL.syncNamespace]: sync.metadata.namespace ?? '',
      },
      annotations: { ...metadata.annotations, [ANNOTATION.origin]: originText(declared) },
    },
  };
  let { inputs } = declared;
  if (object.kind === 'Plugin') {
    object.metadata.finalizers = [FINALIZER];
    const bases = await basesOf(tree, object as unknown as Plugin);
    if (bases !== undefined) {
      inputs = contentKey({ inputs, bases });
      object.spec = withTree(object as unknown as Plugin, contentKey({ bases }));
    }
  }
  object.metadata.annotations = { ...object.metadata.annotations, [ANNOTATION.inputs]: inputs };
  return { key: refKey(refOf(object)), object, inputs };
}

/** What is declared can't pass for something that a Plugin renders. */
function withoutParent({ [LABEL.plugin]: _, [LABEL.pluginNamespace]: __, ...labels }: Record<string, string> = {}) {
  return labels;
}

/** A kustomization may use folders beside its own: what it is made of is all of them. */
export async function basesOf(tree: FileTree, plugin: Plugin): Promise<Record<string, string | undefined> | undefined> {
  const { git } = plugin.spec.source;
  if (plugin.spec.kind !== 'kustomize' || git === undefined || git.url !== undefined) return undefined;
  const folders = await kustomizeInputs(tree, git.path);
  const ids: Record<string, string | undefined> = {};
  for (const folder of folders) ids[folder] = await tree.id(folder);
  return ids;
}

function withTree(plugin: Plugin, tree: string): unknown {
  return { ...plugin.spec, source: { ...plugin.spec.source, git: { ...plugin.spec.source.git, tree } } };
}

function namespacesOf({ metadata, spec }: KubeObject): string[] {
  const target = (spec as { namespace?: { name?: string } } | undefined)?.namespace?.name;
  return [metadata.namespace, target].filter((one) => one !== undefined);
}
