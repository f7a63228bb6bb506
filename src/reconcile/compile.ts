import {
  ANNOTATION,
  API_VERSION,
  FINALIZER,
  isError,
  type KubeObject,
  LABEL,
  type Plugin,
  refKey,
  refOf,
  type Sync,
  type SyncFault,
} from '../api/index.ts';
import type { Declarations, Declared } from '../declare/declarations.ts';
import { originText } from '../declare/origin.ts';
import type { DeclarationReader } from '../declare/reader.ts';
import { survivors } from '../declare/survivors.ts';
import type { FileTree } from '../git/tree.ts';
import { kustomizeInputs } from '../render/kustomize-inputs.ts';
import { buildGraph, type Graph, type GraphPlugin } from '../resolve/graph.ts';
import { contentKey } from '../resolve/key.ts';
import { keyOf } from './store.ts';

/** One object that a revision declares, as the Sync writes it. */
export interface Wanted {
  /** `refKey`. */
  key: string;
  object: KubeObject;
  inputs: string;
}

/** What a commit means for this cluster. Pure of the cluster but for the other Plugins that dependencies may name. */
export interface Compiled {
  commit: string;
  /** In dependency order, in steps that can be written side by side. */
  levels: Wanted[][];
  faults: SyncFault[];
  declarations: Declarations;
  /** `refKey`s of what must stay exactly as it is: something that it is made of can't be read or used. */
  frozen: ReadonlySet<string>;
  /** Keys (`namespace/name`) of the Plugins that the revision declares, frozen ones included. */
  plugins: Set<string>;
}

export interface CompileInput {
  sync: Sync;
  tree: FileTree;
  reader: DeclarationReader;
  /** Every Plugin in the cluster: dependencies may name those of others. */
  plugins: Iterable<Plugin>;
}

export async function compile({ sync, tree, reader, plugins: live }: CompileInput): Promise<Compiled> {
  const plugins = [...live];
  const namespace = sync.metadata.namespace ?? '';
  const allowed = sync.spec.allowedNamespaces;
  const cluster = { name: sync.spec.cluster?.name, labels: sync.spec.cluster?.labels ?? {} };
  const declarations = await reader.read(tree, { path: sync.spec.repository.path, cluster, namespace });
  const faults: SyncFault[] = declarations.faults.map(faultOf);
  const frozen = frozenKeys(declarations, sync, plugins);
  const wanted: Wanted[] = [];
  for (const declared of declarations.objects) {
    if (frozen.has(declared.key)) continue;
    const made = await makeWanted(sync, tree, declared);
    if ('refused' in made) {
      // What it is now stays: its declaration can't be used.
      frozen.add(declared.key);
      faults.push(placed(declared, made.refused));
    } else wanted.push(made);
  }
  const graph = buildGraph(
    graphPlugins(wanted, frozen, plugins, sync),
    allowed === undefined ? {} : { mayName: (one) => one === namespace || allowed.includes(one) },
  );
  const declaredBy = new Map(declarations.objects.map((declared) => [declared.key, declared]));
  const sound = wanted.filter((one) => {
    const refusal = one.object.kind === 'Plugin' ? graph.refused.get(keyOf(one.object)) : undefined;
    const declared = declaredBy.get(one.key);
    if (refusal !== undefined && declared !== undefined) faults.push(placed(declared, refusal.message));
    return refusal === undefined;
  });
  return {
    commit: tree.commit,
    levels: inLevels(sound, graph),
    faults,
    declarations,
    frozen,
    plugins: pluginKeys(declarations, frozen),
  };
}

/** A declaration as it is written to the cluster, or why it can't be: what it names may be wrong though its text is right. */
async function makeWanted(sync: Sync, tree: FileTree, declared: Declared): Promise<Wanted | { refused: string }> {
  const allowed = sync.spec.allowedNamespaces;
  const outside = namespacesOf(declared).find(
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

async function wantedOf(sync: Sync, tree: FileTree, declared: Declared): Promise<Wanted> {
  const { metadata, ...rest } = declared.object;
  const object: KubeObject = {
    ...rest,
    metadata: {
      ...metadata,
      labels: {
        ...metadata.labels,
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

/** A kustomization may use folders beside its own: what it is made of is all of them. */
async function basesOf(tree: FileTree, plugin: Plugin): Promise<Record<string, string | undefined> | undefined> {
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

/** What an earlier commit declared and this one can't say for sure: neither changed nor removed. */
function frozenKeys(declarations: Declarations, sync: Sync, plugins: readonly Plugin[]): Set<string> {
  const origins = new Map(
    plugins.map((plugin) => [refKey(refOf(plugin)), plugin.metadata.annotations?.[ANNOTATION.origin]]),
  );
  const previous = (sync.status?.inventory ?? []).map((entry) => ({
    key: refKey(entry),
    origin: origins.get(refKey(entry)),
  }));
  return new Set([...declarations.refused, ...survivors(previous, declarations)].map((one) => one.key));
}

/** What the revision declares, over what else is in the cluster. What is frozen counts as what is there now. */
function graphPlugins(
  wanted: readonly Wanted[],
  frozen: ReadonlySet<string>,
  others: readonly Plugin[],
  sync: Sync,
): GraphPlugin[] {
  const nodes = new Map<string, GraphPlugin>();
  for (const plugin of others) {
    const labels = plugin.metadata.labels ?? {};
    const isOwn = labels[LABEL.sync] === sync.metadata.name && labels[LABEL.syncNamespace] === sync.metadata.namespace;
    if (!isOwn || frozen.has(refKey(refOf(plugin)))) nodes.set(keyOf(plugin), graphPlugin(plugin));
  }
  for (const { object } of wanted)
    if (object.kind === 'Plugin') nodes.set(keyOf(object), graphPlugin(object as unknown as Plugin));
  return [...nodes.values()];
}

function graphPlugin(plugin: Plugin): GraphPlugin {
  return {
    namespace: plugin.metadata.namespace ?? '',
    name: plugin.metadata.name,
    dependsOn: plugin.spec.dependsOn ?? [],
  };
}

/** Kinds that Plugins may need come first, then Plugins by dependency, so that none sees an old state of what it depends on. */
function inLevels(wanted: readonly Wanted[], graph: Graph): Wanted[][] {
  const others = wanted.filter((one) => one.object.kind !== 'Plugin');
  const byKey = new Map(wanted.filter((one) => one.object.kind === 'Plugin').map((one) => [keyOf(one.object), one]));
  const levels = graph.levels.map((level) => level.flatMap((key) => byKey.get(key) ?? []));
  return [others, ...levels].filter((level) => level.length > 0);
}

function pluginKeys(declarations: Declarations, frozen: ReadonlySet<string>): Set<string> {
  const prefix = refKey({ apiVersion: API_VERSION, kind: 'Plugin', namespace: '', name: '' }).slice(0, -1);
  const keys = [...declarations.objects.map((one) => one.key), ...frozen];
  return new Set(keys.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length)));
}

function namespacesOf(declared: Declared): string[] {
  const own = declared.object.metadata.namespace;
  const spec = declared.object.spec as { namespace?: { name?: string } } | undefined;
  return [own, spec?.namespace?.name].filter((one) => one !== undefined);
}

function placed(declared: Declared, message: string): SyncFault {
  const { file, line, column } = declared.origin;
  return { file, line, column, message, object: `${declared.object.kind} ${declared.object.metadata.name}` };
}

function faultOf(fault: Declarations['faults'][number]): SyncFault {
  const { file, line, column, message, object } = fault;
  return { file, line, column, message, ...(object === undefined ? {} : { object }) };
}
