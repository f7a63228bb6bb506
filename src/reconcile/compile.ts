import { ANNOTATION, type KubeObject, type Plugin, refKey, refOf, type Sync, type SyncFault } from '../api/index.ts';
import type { Declarations, Declared } from '../declare/declarations.ts';
import type { DeclarationReader } from '../declare/reader.ts';
import { survivors } from '../declare/survivors.ts';
import type { FileTree } from '../git/tree.ts';
import { buildGraph, type Graph, type GraphPlugin } from '../resolve/graph.ts';
import type { CatalogueFacts } from './catalogue-facts.ts';
import { expandCatalogue } from './expand-catalogue.ts';
import { judgeExpansions } from './judge-expansions.ts';
import { pluginKeysIn, syncKeyOf } from './nesting.ts';
import { keyOf } from './store.ts';
import { makeWanted, type Wanted } from './wanted.ts';

/** What a commit means for this cluster. Pure of the cluster but for the other Plugins that dependencies may name. */
export interface Compiled {
  commit: string;
  /** In dependency order, in steps that can be written side by side. */
  levels: Wanted[][];
  faults: SyncFault[];
  /** What this cluster can't have though every file is right: told like a fault, but it holds nothing up. */
  misfits: SyncFault[];
  declarations: Declarations;
  /** `refKey`s of what must stay exactly as it is: something that it is made of can't be read or used. */
  frozen: ReadonlySet<string>;
  /** Keys (`namespace/name`) of the Plugins that the revision declares, frozen ones included. */
  plugins: Set<string>;
  /** When time alone makes another revision of the same commit, and whether a Plugin that becomes ready does. */
  until: number | undefined;
  isPending: boolean;
}

export interface CompileInput {
  sync: Sync;
  tree: FileTree;
  reader: DeclarationReader;
  /** Every Plugin in the cluster: dependencies may name those of others. */
  plugins: Iterable<Plugin>;
  catalogue: CatalogueFacts;
}

export async function compile({ sync, tree, reader, plugins: live, catalogue }: CompileInput): Promise<Compiled> {
  const plugins = [...live];
  const namespace = sync.metadata.namespace ?? '';
  const allowed = sync.spec.allowedNamespaces;
  const cluster = { name: sync.spec.cluster?.name, labels: sync.spec.cluster?.labels ?? {} };
  const declarations = await reader.read(tree, { path: sync.spec.repository.path, cluster, namespace });
  const faults: SyncFault[] = declarations.faults.map(faultOf);
  const frozen = frozenKeys(declarations, sync, [...plugins, ...catalogue.extensions, ...catalogue.instances]);
  let wanted: Wanted[] = [];
  for (const declared of declarations.objects) {
    if (frozen.has(declared.key)) continue;
    const made = await makeWanted(sync, tree, declared);
    if ('refused' in made) {
      // What it is now stays: its declaration can't be used.
      frozen.add(declared.key);
      faults.push(placed(declared, made.refused));
    } else wanted.push(made);
  }
  const own = declarations.objects.map((declared) => [declared.key, declared] as const);
  const judged = await judgeExpansions({
    ...{ sync, tree, wanted, plugins, declaredBy: new Map(own), kubernetes: catalogue.kubernetes },
  });
  for (const [key, wrong] of judged) {
    faults.push(...wrong);
    frozen.add(key);
  }
  wanted = wanted.filter(({ key }) => !judged.has(key));
  const expanded = await expandCatalogue({
    ...{ sync, tree, declared: declarations.objects, wanted, frozen, plugins, facts: catalogue },
  });
  wanted.push(...expanded.wanted);
  faults.push(...expanded.faults);
  for (const key of expanded.frozen) frozen.add(key);
  const graph = buildGraph(graphPlugins(wanted, frozen, plugins, sync), {
    ...(allowed === undefined ? {} : { mayName: (one) => one === namespace || allowed.includes(one) }),
    mayAppear: wanted.some(isAllInOne),
  });
  const declaredBy = new Map([...own, ...expanded.origins]);
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
    misfits: expanded.misfits,
    declarations,
    frozen,
    plugins: pluginKeys([...declarations.objects, ...expanded.wanted], frozen),
    until: expanded.until,
    isPending: expanded.isPending,
  };
}

/** What charts of kind `template` and packages are for: which Plugins one renders is known once it is rendered. */
function isAllInOne({ object }: Wanted): boolean {
  return object.kind === 'Plugin' && ['template', 'expansion'].includes((object as unknown as Plugin).spec.kind);
}

/** What an earlier commit declared and this one can't say for sure: neither changed nor removed. */
function frozenKeys(declarations: Declarations, sync: Sync, live: readonly KubeObject[]): Set<string> {
  const origins = new Map(
    live.map((object) => [refKey(refOf(object)), object.metadata.annotations?.[ANNOTATION.origin]]),
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
    const isOwn = syncKeyOf(plugin) === keyOf(sync);
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

function pluginKeys(declared: readonly { key: string }[], frozen: ReadonlySet<string>): Set<string> {
  return new Set(pluginKeysIn([...declared.map((one) => one.key), ...frozen]));
}

function placed(declared: Declared, message: string): SyncFault {
  const { file, line, column } = declared.origin;
  return { file, line, column, message, object: `${declared.object.kind} ${declared.object.metadata.name}` };
}

function faultOf(fault: Declarations['faults'][number]): SyncFault {
  const { file, line, column, message, object } = fault;
  return { file, line, column, message, ...(object === undefined ? {} : { object }) };
}
