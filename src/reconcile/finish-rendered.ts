import { EspalierError, type KubeObject, type Plugin, refKey, refOf } from '../api/index.ts';
import { imagesIn } from '../images/find.ts';
import { leftBehind, ownPlaces } from '../images/rules.ts';
import { withFoldedData } from '../plan/secret-forms.ts';
import type { Release } from '../release/record.ts';
import { type Finished, type FinishOptions, finishObjects, type Scope } from '../render/finish.ts';
import { contentKey } from '../resolve/key.ts';
import type { Facts } from './facts.ts';
import { pluginKeysIn } from './nesting.ts';
import { onceIn } from './once.ts';
import type { Rendered } from './rendered.ts';
import { withOurPlugins } from './rendered-kubegems.ts';
import type { ReadyHook } from './rendered-release.ts';
import { type Kinds, scopesOf } from './scopes.ts';
import { keyOf } from './store.ts';

export interface FinishInput {
  /** Tells which kinds live in namespaces. */
  client: Kinds;
  plugin: Plugin;
  facts: Facts;
  /** Which file of a chart an object comes from, where that is known. */
  fileOf?(object: KubeObject): string | undefined;
}

/** Rendered objects as they are sent: kinds of KubeGems as ours, patched, rewritten, in their namespace, labelled, and the namespace itself where that is wanted. */
export async function finishFor(input: FinishInput, objects: readonly KubeObject[]): Promise<Finished> {
  const ours = withOurPlugins(objects, input.fileOf);
  const finished = finishObjects(ours, await optionsFor(input, ours));
  refuseParents(input, finished.objects);
  return finished;
}

/** It would take the place of its own declaration, and nobody could tell any more who installs what. */
function refuseParents({ plugin, facts }: FinishInput, objects: readonly KubeObject[]): void {
  const forbidden = [keyOf(plugin), ...facts.parents];
  const found = pluginKeysIn(objects.map((object) => refKey(refOf(object)))).find((key) => forbidden.includes(key));
  if (found === undefined) return;
  const what = found === keyOf(plugin) ? 'itself' : `Plugin ${found}, which it is nested in`;
  throw new EspalierError('RenderRefused', `it renders ${what}: a Plugin can't install what installs it`, {
    retry: false,
  });
}

/** Hooks are patched, rewritten and placed like objects, but belong to nobody: Helm leaves them behind, and so do we. */
export async function finishHooks(input: FinishInput, hooks: readonly KubeObject[]): Promise<KubeObject[]> {
  const options = await optionsFor(input, hooks);
  return finishObjects(hooks, { ...options, createNamespace: false, unlabelled: true, mayRepeat: true }).objects;
}

/** Hooks as they stand on a record, in the namespace of their release where they live in one. Nothing is patched or rewritten a second time. */
export async function placeRecorded(client: Kinds, record: Release, hooks: readonly ReadyHook[]): Promise<ReadyHook[]> {
  const objects = hooks.map(({ object }) => object);
  const scopes = await scopesOf(client, objects);
  const placed = finishObjects(objects, {
    plugin: { metadata: { name: record.name, namespace: record.namespace } },
    targetNamespace: record.namespace,
    createNamespace: false,
    unlabelled: true,
    mayRepeat: true,
    patches: [],
    images: { rewrite: [], fields: [] },
    scopeOf: (object): Scope => scopes.get(`${object.apiVersion} ${object.kind}`) ?? 'unknown',
  });
  return hooks.map(({ hook, object }, index) => ({ hook, object: placed.objects[index] ?? object }));
}

async function optionsFor(
  { client, plugin, facts }: FinishInput,
  objects: readonly KubeObject[],
): Promise<FinishOptions> {
  const scopes = await scopesOf(client, objects);
  return {
    plugin,
    targetNamespace: targetNamespace(plugin),
    createNamespace: plugin.spec.namespace?.create ?? false,
    patches: plugin.spec.patches ?? [],
    images: { rewrite: facts.images, fields: facts.imageFields },
    scopeOf: (object): Scope => scopes.get(`${object.apiVersion} ${object.kind}`) ?? 'unknown',
  };
}

/** What is known of objects that are ready to be sent. `hooks` run beside them. */
export function toRendered(
  { plugin, facts }: Pick<FinishInput, 'plugin' | 'facts'>,
  finished: Finished,
  warnings: readonly string[],
  hooks: readonly KubeObject[] = [],
): Rendered {
  // `stringData` is written into `data` by the API server, which then says that nobody owns it: drift would go unseen.
  const objects = finished.objects.map(withFoldedData);
  const namespace = targetNamespace(plugin);
  const once = onceIn(plugin, objects);
  return {
    objects,
    hashes: new Map(objects.map((object) => [refKey(refOf(object)), contentKey({ object }).slice(0, 20)])),
    once: once.keys,
    warnings: [...warnings, ...finished.warnings, ...once.warnings],
    imagesLeft: leftBehind(
      imagesIn([...objects, ...hooks], facts.imageFields),
      ownPlaces(facts.images, facts.values.imageRegistry),
    ),
    ensure: finished.ensure,
    definitions: new Set(),
    version: {},
    bytes: objects.reduce((sum, object) => sum + JSON.stringify(object).length, 0),
    undecided: new Map(
      finished.undecided.map((object) => [refKey(refOf(object)), refKey({ ...refOf(object), namespace })]),
    ),
  };
}

export function targetNamespace({ metadata, spec }: Plugin): string {
  return spec.namespace?.name ?? metadata.namespace ?? '';
}
