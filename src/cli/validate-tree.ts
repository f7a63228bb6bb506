import { describeRef, type PluginSpec, refOf, type SyncFault } from '../api/index.ts';
import type { JsonObject, KubeObject } from '../api/objects.ts';
import { celFault } from '../cluster/celhealth.ts';
import type { Declared } from '../declare/declarations.ts';
import type { Fault } from '../declare/fault.ts';
import { ownPath } from '../declare/git-paths.ts';
import type { ClusterIdentity } from '../declare/layout.ts';
import { createReader, type DeclarationReader } from '../declare/reader.ts';
import type { FileTree } from '../git/tree.ts';
import { expansionHere, judgePackage, rivalFaults } from '../reconcile/judge-expansions.ts';
import { kustomizationFaults, manifestFaults, type SourceFault } from '../render/source-faults.ts';
import { buildGraph, type Dependency, pluginKey } from '../resolve/graph.ts';
import { catalogueFaults, faultAt, pluginsOfInstances } from './validate-catalogue.ts';

/** One way to look at a repository: what one cluster sees of it. */
export interface View extends ClusterIdentity {
  /** What tells it from the base, where both are looked at: `prod-eu`, `_tier=prod`. */
  overlay?: string;
}

export interface FoundFault extends Fault {
  /** The overlay without which it is not there. */
  overlay?: string;
}

export interface Validation {
  /** How many objects of each kind are declared, faulty ones included. */
  counts: Record<string, number>;
  faults: FoundFault[];
}

/** Every fault of what a tree declares, each once however many views have it, in the order of files and lines. */
export async function validateTree(
  tree: FileTree,
  views: readonly View[],
  options: { path: string; namespace: string },
): Promise<Validation> {
  const reader = createReader();
  const look = createLook(tree);
  const kinds = new Map<string, string>();
  const faults = new Map<string, FoundFault>();
  for (const view of views) {
    const found = await validateView(reader, tree, look, view, options);
    for (const key of found.keys) kinds.set(key, key.split('/')[1] ?? '');
    for (const fault of found.faults) {
      const at = `${fault.file}:${fault.line}:${fault.column}:${fault.object}:${fault.message}`;
      const seen = view.overlay === undefined ? fault : { ...fault, overlay: view.overlay };
      if (!faults.has(at)) faults.set(at, seen);
    }
  }
  const counts: Record<string, number> = {};
  for (const kind of kinds.values()) counts[kind] = (counts[kind] ?? 0) + 1;
  return { counts, faults: [...faults.values()].sort(byPlace) };
}

async function validateView(
  reader: DeclarationReader,
  tree: FileTree,
  look: Look,
  view: View,
  { path, namespace }: { path: string; namespace: string },
): Promise<{ keys: string[]; faults: Fault[] }> {
  const declarations = await reader.read(tree, { path, cluster: view, namespace });
  const plugins = declarations.objects.filter(({ object }) => object.kind === 'Plugin');
  const keys = [...declarations.objects, ...declarations.refused].map(({ key }) => key);
  // What is declared but refused exists all the same: who depends on it is not at fault.
  const made = pluginsOfInstances(declarations.objects, namespace);
  const faults = [
    ...declarations.faults,
    ...dependencyFaults(plugins, [...keys.flatMap(pluginOf), ...made]),
    ...plugins.flatMap(expressionFaults),
    ...catalogueFaults(declarations.objects),
    ...(await expansionFaults(tree, declarations.objects, view)),
    ...(await Promise.all(plugins.map(look))).flat(),
  ];
  return { keys, faults };
}

type Look = (declared: Declared) => Promise<Fault[]>;

/** Looks into the folders of Plugins, into each once. What only a program could render is left alone. */
function createLook(tree: FileTree): Look {
  const looked = new Map<string, Promise<SourceFault[]>>();
  return async ({ object }) => {
    const { kind, source } = specOf(object) as unknown as Pick<PluginSpec, 'kind' | 'source'>;
    const path = source.git?.commit === undefined ? ownPath((source.git ?? {}) as JsonObject) : undefined;
    if (path === undefined || source.git?.template === true) return [];
    const faultsIn = { manifests: manifestFaults, kustomize: kustomizationFaults }[kind as string];
    if (faultsIn === undefined) return [];
    const known = looked.get(`${kind} ${path}`) ?? faultsIn(tree, path);
    looked.set(`${kind} ${path}`, known);
    const about = describeRef(refOf(object));
    return (await known).map((fault) => ({ code: 'InvalidDeclaration', ...fault, object: about }));
  };
}

/** Of the packages that are for this view. Which conditions may be delegated only a Sync knows. */
async function expansionFaults(tree: FileTree, declared: readonly Declared[], { labels }: View): Promise<Fault[]> {
  const found = declared.flatMap((one) => expansionHere(one, { kubernetes: undefined, labels }));
  const judged = await Promise.all(
    found.map(async (one) => ({ one, ...(await judgePackage(tree, one.declared, { labels })) })),
  );
  const rivals = judged.filter(({ isLeftOut }) => !isLeftOut).map(({ one }) => one);
  const faults: SyncFault[] = [...rivalFaults(rivals, []).values(), ...judged.flatMap((one) => one.faults)];
  return faults.map(({ line = 1, column = 1, ...fault }) => ({ code: 'InvalidDeclaration', line, column, ...fault }));
}

function dependencyFaults(plugins: readonly Declared[], all: readonly { name: string; namespace: string }[]): Fault[] {
  const byKey = new Map(plugins.map((declared) => [pluginKey(nameOf(declared.object)), declared]));
  const others = all.filter((plugin) => !byKey.has(pluginKey(plugin)));
  const sound = plugins.map(({ object }) => ({ ...nameOf(object), dependsOn: dependenciesOf(object) }));
  return [...buildGraph([...sound, ...others]).refused].flatMap(([key, { message }]) => {
    const declared = byKey.get(key);
    return declared === undefined ? [] : [faultAt(declared, '/spec/dependsOn', message)];
  });
}

/** An expression that doesn't compile never becomes true: the Plugin would wait for ever. */
function expressionFaults(declared: Declared): Fault[] {
  const { health = [] } = specOf(declared.object) as { health?: { ready: string }[] };
  const lists = { health, dependsOn: dependenciesOf(declared.object) as { ready?: string }[] };
  return Object.entries(lists).flatMap(([list, items]) =>
    items.flatMap(({ ready }, index) => {
      const fault = ready === undefined ? undefined : celFault(ready);
      if (fault === undefined) return [];
      const message = `spec.${list}[${index}].ready is no CEL expression: ${fault}`;
      return [faultAt(declared, `/spec/${list}/${index}/ready`, message)];
    }),
  );
}

function nameOf({ metadata: { name, namespace = '' } }: KubeObject): { name: string; namespace: string } {
  return { name, namespace };
}

/** The Plugin that a `refKey` is of, if it is of one. */
function pluginOf(key: string): { name: string; namespace: string }[] {
  const [, kind, namespace = '', name = ''] = key.split('/');
  return kind === 'Plugin' ? [{ namespace, name }] : [];
}

/** Its schema was checked when it was read. */
function specOf(object: KubeObject): JsonObject {
  return object.spec as JsonObject;
}

function dependenciesOf(object: KubeObject): Dependency[] {
  return (specOf(object).dependsOn ?? []) as unknown as Dependency[];
}

function byPlace(a: Fault, b: Fault): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}
