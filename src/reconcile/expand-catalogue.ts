import {
  ANNOTATION,
  API_VERSION,
  type Extension,
  type ExtensionInstance,
  type KubeObject,
  LABEL,
  type Plugin,
  readAs,
  refKey,
  refOf,
  type Sync,
  type SyncFault,
  validateObject,
} from '../api/index.ts';
import type { Declared } from '../declare/declarations.ts';
import { inputsOf } from '../declare/inputs.ts';
import { originFiles } from '../declare/origin.ts';
import type { FileTree } from '../git/tree.ts';
import type { ResolvedInstance } from '../resolve/catalogue.ts';
import { activityOf } from '../resolve/when.ts';
import { type Catalogue, type CatalogueFacts, instancesByExtension, resolveIn } from './catalogue-facts.ts';
import { logoFault } from './logos.ts';
import { keyOf } from './store.ts';
import { makeWanted, type Wanted, type Writable } from './wanted.ts';

export interface ExpandInput {
  sync: Sync;
  tree: FileTree;
  declared: readonly Declared[];
  /** What the revision declares and may be written. */
  wanted: readonly Wanted[];
  frozen: ReadonlySet<string>;
  /** Every Plugin in the cluster. */
  plugins: readonly Plugin[];
  facts: CatalogueFacts;
}

export interface Expanded {
  /** Instances that the catalogue itself calls for, and the Plugins of all. */
  wanted: Wanted[];
  faults: SyncFault[];
  /** What can't be had here and now though every file is right. Told like a fault, but nothing is unknown by it. */
  misfits: SyncFault[];
  /** What stays exactly as it is. */
  frozen: Set<string>;
  /** Where to look for what is wrong with what was made, by `refKey`. */
  origins: Map<string, Declared>;
  /** When time alone changes any of it. */
  until: number | undefined;
  /** Something is to follow when a Plugin is ready. */
  isPending: boolean;
}

/** An instance, and the declaration that it comes from: its own, or that of the Extension that calls for it. */
interface Source {
  instance: ExtensionInstance;
  declared: Declared;
}

/**
 * The part of a revision that nobody wrote out: instances of the extensions that belong on every cluster of a kind, and
 * the Plugin that each instance stands for, by this cluster's Kubernetes version.
 */
export async function expandCatalogue(input: ExpandInput): Promise<Expanded> {
  const result: Expanded = {
    ...{ wanted: [], faults: [], misfits: [], frozen: new Set<string>(), origins: new Map() },
    ...{ until: undefined, isPending: false },
  };
  const catalogue = extensionsIn(input);
  const declaredBy = new Map(input.declared.map((one) => [one.key, one]));
  await checkLogos(input, result, declaredBy);
  const sources = ofKind(input.wanted, 'ExtensionInstance').flatMap(({ key, object }): Source[] => {
    const declared = declaredBy.get(key);
    return declared === undefined ? [] : [{ instance: readAs(object, 'ExtensionInstance'), declared }];
  });
  for (const implied of impliedInstances(input, catalogue, sources, declaredBy)) {
    const made = await makeWanted(input.sync, input.tree, implied.writable);
    result.origins.set(implied.key, implied.declared);
    if ('refused' in made) {
      result.faults.push(placed(implied.declared, made.refused, implied.writable.object));
      continue;
    }
    result.wanted.push(made);
    sources.push({ instance: readAs(made.object, 'ExtensionInstance'), declared: implied.declared });
  }
  const all = [...sources.map(({ instance }) => instance), ...othersIn(input, sources)];
  const known: Catalogue = { extensions: catalogue, instances: instancesByExtension(all) };
  const live = new Map(input.plugins.map((plugin) => [keyOf(plugin), plugin]));
  const approvals = new Map([...input.facts.instances].map((one) => [keyOf(one), one.metadata.annotations]));
  for (const source of sources) {
    const approved = approvals.get(keyOf(source.instance))?.[ANNOTATION.approveVersion];
    const instance = approved === undefined ? source.instance : withApproval(source.instance, approved);
    const resolved = await resolveIn(known, instance, live.get(keyOf(instance)), input.facts);
    await take(input, result, { ...source, instance }, resolved, declaredBy);
  }
  keepWhatStays(input, result, catalogue, sources);
  return result;
}

/** A picture that can't be shown keeps nobody from installing anything. */
async function checkLogos(
  { tree, wanted }: ExpandInput,
  result: Expanded,
  declaredBy: ReadonlyMap<string, Declared>,
): Promise<void> {
  for (const { key, object } of ofKind(wanted, 'Extension')) {
    const declared = declaredBy.get(key);
    const fault = await logoFault(tree, readAs(object, 'Extension').spec.logo);
    if (fault !== undefined && declared !== undefined)
      result.misfits.push(placed(declared, fault, object, '/spec/logo'));
  }
}

/** By name: those of the revision, and those in the cluster that it does not take away. */
function extensionsIn({ sync, wanted, frozen, facts }: ExpandInput): Map<string, Extension> {
  const found = new Map<string, Extension>();
  for (const live of facts.extensions)
    if (!isOf(sync, live) || frozen.has(refKey(refOf(live)))) found.set(live.metadata.name, live);
  for (const { object } of ofKind(wanted, 'Extension')) found.set(object.metadata.name, readAs(object, 'Extension'));
  return found;
}

/** Instances in the cluster that the revision says nothing of: people's, other Syncs', and what stays as it is. */
function othersIn({ sync, frozen, facts }: ExpandInput, sources: readonly Source[]): ExtensionInstance[] {
  const own = new Set(sources.map(({ instance }) => keyOf(instance)));
  return [...facts.instances].filter(
    (one) => !own.has(keyOf(one)) && (!isOf(sync, one) || frozen.has(refKey(refOf(one)))),
  );
}

/** An extension of class default or system is on every cluster that it is for, unless an instance says how. */
function impliedInstances(
  { sync, wanted, frozen, facts }: ExpandInput,
  catalogue: ReadonlyMap<string, Extension>,
  sources: readonly Source[],
  declaredBy: ReadonlyMap<string, Declared>,
) {
  const frozenNames = [...facts.instances]
    .filter((one) => frozen.has(refKey(refOf(one))))
    .map((one) => one.spec.extension);
  const explicit = new Set([...sources.map(({ instance }) => instance.spec.extension), ...frozenNames]);
  return ofKind(wanted, 'Extension').flatMap(({ key: extensionKey, object }) => {
    const extension = catalogue.get(object.metadata.name);
    const declared = declaredBy.get(extensionKey);
    if (extension === undefined || declared === undefined || explicit.has(extension.metadata.name)) return [];
    if (!isImplied(extension) || !isForCluster(sync, extension)) return [];
    const instance = impliedBy(extension, sync.metadata.namespace ?? '');
    const writable: Writable = { object: instance, inputs: inputsOf(instance), parts: declared.parts };
    return [{ key: refKey(refOf(instance)), writable, declared }];
  });
}

function isImplied({ spec }: Extension): boolean {
  return spec.class === 'default' || spec.class === 'system';
}

function isForCluster(sync: Sync, { spec }: Extension): boolean {
  const labels = sync.spec.cluster?.labels ?? {};
  return activityOf(spec.when, { kubernetes: undefined, labels, windowOpen: true }).state === 'active';
}

function impliedBy({ metadata, spec }: Extension, namespace: string): KubeObject {
  return {
    apiVersion: API_VERSION,
    kind: 'ExtensionInstance',
    metadata: {
      name: metadata.name,
      namespace,
      annotations: { [ANNOTATION.impliedBy]: spec.class },
      ...(spec.class === 'system' ? { labels: { [LABEL.class]: 'system' } } : {}),
    },
    spec: { extension: metadata.name },
  };
}

function withApproval(instance: ExtensionInstance, version: string): ExtensionInstance {
  const annotations = { ...instance.metadata.annotations, [ANNOTATION.approveVersion]: version };
  return { ...instance, metadata: { ...instance.metadata, annotations } };
}

async function take(
  input: ExpandInput,
  result: Expanded,
  { instance, declared }: Source,
  resolved: ResolvedInstance,
  declaredBy: ReadonlyMap<string, Declared>,
): Promise<void> {
  const { namespace = '', name } = instance.metadata;
  const key = refKey({ apiVersion: API_VERSION, kind: 'Plugin', namespace, name });
  result.origins.set(key, declared);
  if (resolved.until !== undefined) result.until = Math.min(resolved.until, result.until ?? resolved.until);
  if (resolved.next !== undefined) result.isPending = true;
  const isThere = input.plugins.some((plugin) => keyOf(plugin) === `${namespace}/${name}`);
  const twin = declaredBy.get(key);
  if (twin !== undefined) {
    const message = `becomes Plugin ${namespace}/${name}, which ${twin.origin.file}:${twin.origin.line} declares: rename one of them`;
    result.faults.push(placed(declared, message, instance));
    return;
  }
  const extension = declaredBy.get(
    refKey({ apiVersion: API_VERSION, kind: 'Extension', name: instance.spec.extension }),
  );
  if (resolved.state === 'made') {
    const object = pluginOf(resolved.plugin as KubeObject, instance);
    const parts =
      extension === undefined || extension === declared ? declared.parts : [...declared.parts, ...extension.parts];
    const [violation] = validateObject(object);
    const made =
      violation === undefined
        ? await makeWanted(input.sync, input.tree, { object, inputs: inputsOf(object), parts })
        : { refused: `its Plugin would not be accepted: ${violation.message}` };
    if (!('refused' in made)) {
      result.wanted.push(made);
      return;
    }
    result.faults.push(placed(extension ?? declared, made.refused, instance));
    if (isThere) result.frozen.add(key);
    return;
  }
  if (isThere) result.frozen.add(key);
  if (resolved.state === 'refused') {
    for (const fault of resolved.faults) {
      const isTheirs = fault.in === 'extension' && extension !== undefined;
      result.faults.push(placed(isTheirs ? extension : declared, fault.message, instance, isTheirs ? '' : fault.path));
    }
  } else if (resolved.next === undefined) result.misfits.push(placed(declared, resolved.why, instance));
}

/** What an instance implies of its Plugin beyond what the catalogue says. */
function pluginOf(plugin: KubeObject, instance: ExtensionInstance): KubeObject {
  const implied = instance.metadata.annotations?.[ANNOTATION.impliedBy];
  if (implied === undefined) return plugin;
  const annotations = { ...plugin.metadata.annotations, [ANNOTATION.impliedBy]: implied };
  return { ...plugin, metadata: { ...plugin.metadata, annotations } };
}

/**
 * What an earlier revision made and this one no longer says: removing an entry of the catalogue, or making it one on
 * request, uninstalls nothing, and a system extension is not removed at all.
 */
function keepWhatStays(
  { sync, declared, wanted, frozen, plugins, facts }: ExpandInput,
  result: Expanded,
  catalogue: ReadonlyMap<string, Extension>,
  sources: readonly Source[],
): void {
  const said = new Set([...[...wanted, ...result.wanted, ...declared].map(({ key }) => key), ...frozen]);
  const explicit = new Set(sources.map(({ instance }) => instance.spec.extension));
  for (const object of [...facts.instances, ...plugins]) {
    const key = refKey(refOf(object));
    if (!isOf(sync, object) || said.has(key)) continue;
    const { labels = {}, annotations = {} } = object.metadata;
    const name = 'extension' in object.spec ? object.spec.extension : labels[LABEL.extension];
    if (name === undefined) continue;
    if (labels[LABEL.class] === 'system') {
      result.frozen.add(key);
      const message = 'is a system extension, and stays: give it another class first, then remove it';
      if (object.kind === 'ExtensionInstance')
        result.misfits.push({ file: fileOf(object), message, object: `${object.kind} ${object.metadata.name}` });
    } else if (annotations[ANNOTATION.impliedBy] !== undefined && !explicit.has(name)) {
      const extension = catalogue.get(name);
      if (extension === undefined || !isImplied(extension) || isForCluster(sync, extension)) result.frozen.add(key);
    }
  }
}

function fileOf({ metadata }: KubeObject): string {
  return originFiles(metadata.annotations?.[ANNOTATION.origin])[0] ?? '';
}

/** Where a person looks for what is wrong: the field itself, where that is known. */
function placed(declared: Declared, message: string, { kind, metadata }: KubeObject, path = ''): SyncFault {
  const { file, line, column } = path === '' ? declared.origin : declared.locate(path);
  return { file, line, column, message, object: `${kind} ${metadata.name}` };
}

function isOf(sync: Sync, { metadata }: KubeObject): boolean {
  const labels = metadata.labels ?? {};
  return labels[LABEL.sync] === sync.metadata.name && labels[LABEL.syncNamespace] === sync.metadata.namespace;
}

function ofKind(wanted: readonly Wanted[], kind: string): Wanted[] {
  return wanted.filter(({ object }) => object.kind === kind);
}
