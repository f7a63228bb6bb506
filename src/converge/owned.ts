import { type JsonObject, type KubeObject, type ObjectRef, refKey, refOf } from '../api/index.ts';
import type { Health } from '../cluster/health.ts';
import { appliedFields, hashFields } from '../plan/fields.ts';
import { managerOf } from '../plan/manager.ts';
import { onceKeyOf } from '../plan/once.ts';
import { ownerOf } from '../plan/ownership.ts';
import { Departed, isOlder } from './departed.ts';
import { groupKind, type KindRef } from './watches.ts';

/** What we know of a live object that a Plugin owns. The object itself is not kept: 5,000 of them would not fit. */
export interface OwnedObject {
  ref: ObjectRef;
  /** `namespace/name` of the owning Plugin, by the labels of the live object. */
  plugin: string;
  uid: string;
  resourceVersion: string;
  health: Health;
  /** The rules of health that it was judged by. */
  rules: string;
  terminating: boolean;
  finalizers: readonly string[];
  /** Hash of the fields that the API server holds in our name. */
  fields: string;
  /** The whole object, only while those fields differ from what was recorded: it tells what drifted, and by whom. */
  object?: KubeObject | undefined;
}

/** What the last apply left in our name. `set` is missing after a restart until the object is seen unchanged once. */
export interface RecordedFields {
  fields: string;
  set?: AppliedFields | undefined;
}

/** An object that runs once was healthy: for which key, by its own annotation. */
export interface Ran {
  uid: string;
  once: string;
}

export interface AppliedFields {
  apiVersion: string;
  fields: JsonObject;
}

/** `message`: as healthy or not as before, and only what is said about it differs. */
export type OwnedChange = 'health' | 'message' | 'drift' | 'gone';

export interface OwnedOptions {
  /** Health by the owning Plugin's own rules where it has some, by kstatus otherwise. */
  healthOf(plugin: string, object: KubeObject): Health;
  /** A text that differs whenever the Plugin's own rules for the object do. */
  rulesFor(plugin: string, ref: ObjectRef): string;
  /** Something changed that the Plugin must look at. Never called for changes that mean nothing to it. */
  onChange(plugin: string, key: string, change: OwnedChange): void;
}

/**
 * Live objects that carry our ownership labels, fed by one watch a kind and by the answers to our own writes.
 * Drift needs no request: when another writer takes or removes a field, the API server takes it from our managedFields
 * entry, and the entry's hash no longer equals the one recorded at our last apply.
 */
export class OwnedIndex {
  readonly #options: OwnedOptions;
  readonly #objects = new Map<string, OwnedObject>();
  readonly #recorded = new Map<string, RecordedFields>();
  /** What runs once, as it was when it had run: it may be gone by now. */
  readonly #ran = new Map<string, Ran>();
  /** Keys being written at this moment: what the watch says of them is judged when the answer is here. */
  readonly #writing = new Set<string>();
  readonly #departed = new Departed();

  constructor(options: OwnedOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): OwnedObject | undefined {
    return this.#objects.get(key);
  }

  recorded(key: string): RecordedFields | undefined {
    return this.#recorded.get(key);
  }

  ran(key: string): Ran | undefined {
    return this.#ran.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  /** Says what the ownership record holds, at start and after a status was read. Keeps what is known better. */
  expect(key: string, fields: string): void {
    if (this.#recorded.get(key)?.fields === fields) return;
    const live = this.#objects.get(key);
    const set = live?.fields === fields && live.object !== undefined ? ourFields(live.object) : undefined;
    this.#recorded.set(key, { fields, set });
    this.#judge(key, false);
  }

  /** The object is no longer the Plugin's to look after. What another one took over by now stays on its record. */
  forget(key: string, plugin: string): void {
    const live = this.#objects.get(key);
    if (live !== undefined && live.plugin !== plugin) return;
    this.#recorded.delete(key);
    this.#ran.delete(key);
  }

  /** Marks an object as being written, so that the watch event of our own write is not taken for somebody else's. */
  beginWrite(key: string): void {
    this.#writing.add(key);
  }

  /** The write failed or was not needed: judge again by what the watch said meanwhile. */
  cancelWrite(key: string): void {
    this.#writing.delete(key);
    this.#judge(key);
  }

  /** Takes the API server's answer to our apply as the new record. */
  written(object: KubeObject): { fields: string } {
    const key = refKey(refOf(object));
    const { ours, fields } = fieldsOf(object);
    this.#recorded.set(key, { fields, set: ours });
    this.#writing.delete(key);
    this.#take(object, false, { ours, fields });
    this.#judge(key);
    const plugin = ownerOf(object);
    // Somebody deleted it before the answer was here.
    if (plugin !== undefined && this.#isDeparted(object)) this.#options.onChange(plugin, key, 'gone');
    return { fields };
  }

  /** A watch event. */
  onEvent(type: 'added' | 'modified' | 'deleted', object: KubeObject): void {
    const key = refKey(refOf(object));
    if (type === 'deleted') {
      // Without a status it is only what is left of one that a list no longer had.
      if (object.status !== undefined) this.#noteRun(key, object);
      this.#remove(key, object.metadata.uid, object.metadata.resourceVersion);
    } else this.#take(object, true);
  }

  /** A complete list of a kind: what we wrote and is not in it went before its watch had ever seen it. */
  onListed(kind: KindRef, names: ReadonlySet<string>, resourceVersion: string): void {
    const group = groupKind(kind);
    for (const [key, { ref, uid, resourceVersion: written }] of this.#objects) {
      const isListed = names.has(ref.namespace === undefined ? ref.name : `${ref.namespace}/${ref.name}`);
      if (isListed || groupKind(ref) !== group || this.#writing.has(key)) continue;
      if (!isOlder(resourceVersion, written)) this.#remove(key, uid, resourceVersion);
    }
  }

  /** True when the Plugin's rules of health have changed since the object was judged: it must be read and judged anew. */
  isJudgedByOldRules(key: string): boolean {
    const live = this.#objects.get(key);
    return live !== undefined && live.rules !== this.#options.rulesFor(live.plugin, live.ref);
  }

  /** Takes an object as it was read just now. */
  judgeAnew(object: KubeObject): void {
    this.#take(object, false, fieldsOf(object));
  }

  /** True when the live object's fields in our name are not those of our last apply. */
  hasDrifted(key: string): boolean {
    const recorded = this.#recorded.get(key);
    const live = this.#objects.get(key);
    return recorded !== undefined && live !== undefined && live.fields !== recorded.fields;
  }

  #take(object: KubeObject, tell: boolean, known?: { ours: AppliedFields; fields: string }): void {
    const plugin = ownerOf(object);
    if (plugin === undefined || this.#isDeparted(object)) return;
    const key = refKey(refOf(object));
    const before = this.#objects.get(key);
    if (before !== undefined) {
      const { resourceVersion } = object.metadata;
      if (isOlder(resourceVersion, before.resourceVersion)) return;
      // The watch brings every write of ours once more.
      if (known === undefined && resourceVersion === before.resourceVersion && !this.#writing.has(key)) return;
    }
    const { ours, fields } = known ?? fieldsOf(object);
    const recorded = this.#recorded.get(key);
    const differs = recorded !== undefined && recorded.fields !== fields;
    if (recorded !== undefined && !differs && recorded.set === undefined) recorded.set = ours;
    const health = this.#options.healthOf(plugin, object);
    const ref = refOf(object);
    const after: OwnedObject = {
      ref,
      plugin,
      uid: object.metadata.uid ?? '',
      resourceVersion: object.metadata.resourceVersion ?? '',
      health,
      rules: this.#options.rulesFor(plugin, ref),
      terminating: object.metadata.deletionTimestamp !== undefined,
      finalizers: object.metadata.finalizers ?? [],
      fields,
      object: differs || recorded === undefined || this.#writing.has(key) ? object : undefined,
    };
    this.#objects.set(key, after);
    this.#noteRun(key, object);
    // Who had it may let go of it.
    if (before !== undefined && before.plugin !== plugin) this.#options.onChange(before.plugin, key, 'gone');
    if (!tell || this.#writing.has(key)) return;
    if (differs && (before?.fields !== fields || hasOtherContent(before.object, object)))
      this.#options.onChange(plugin, key, 'drift');
    else if (healthChanged(before, after)) this.#options.onChange(plugin, key, 'health');
    else if (before?.health.message !== health.message) this.#options.onChange(plugin, key, 'message');
  }

  /** What is being removed may have run before. */
  #noteRun(key: string, object: KubeObject): void {
    const once = onceKeyOf(object);
    if (once === undefined) return;
    const plugin = ownerOf(object);
    const { deletionTimestamp: _, ...metadata } = object.metadata;
    if (plugin === undefined || metadata.uid === undefined) return;
    const { state } = this.#options.healthOf(plugin, { ...object, metadata });
    if (state === 'healthy') this.#ran.set(key, { uid: metadata.uid, once });
  }

  #isDeparted({ metadata }: KubeObject): boolean {
    return this.#departed.has(metadata.uid, metadata.resourceVersion);
  }

  #remove(key: string, uid: string | undefined, resourceVersion: string | undefined): void {
    this.#departed.add(uid, resourceVersion);
    const before = this.#objects.get(key);
    if (before === undefined || (uid !== undefined && before.uid !== uid)) return;
    this.#objects.delete(key);
    this.#options.onChange(before.plugin, key, 'gone');
  }

  #judge(key: string, tell = true): void {
    const live = this.#objects.get(key);
    const recorded = this.#recorded.get(key);
    if (live === undefined || recorded === undefined) return;
    if (live.fields === recorded.fields) live.object = undefined;
    else if (tell) this.#options.onChange(live.plugin, key, 'drift');
  }
}

/** Of a drifted object: somebody may have put it back by hand. Kinds without generations have no status that changes. */
function hasOtherContent(before: KubeObject | undefined, after: KubeObject): boolean {
  const { generation } = after.metadata;
  return generation === undefined || before?.metadata.generation !== generation;
}

/** The fields that the API server holds in our name. */
export function ourFields(object: KubeObject): AppliedFields {
  return (
    appliedFields(object.metadata.managedFields, managerOf(object)) ?? { apiVersion: object.apiVersion, fields: {} }
  );
}

function fieldsOf(object: KubeObject): { ours: AppliedFields; fields: string } {
  const ours = ourFields(object);
  return { ours, fields: hashFields(ours.fields) };
}

function healthChanged(before: OwnedObject | undefined, after: OwnedObject): boolean {
  return (
    before === undefined ||
    before.uid !== after.uid ||
    before.health.state !== after.health.state ||
    before.terminating !== after.terminating ||
    (after.terminating && before.finalizers.join() !== after.finalizers.join())
  );
}
