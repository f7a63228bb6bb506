import {
  API_VERSION,
  type EspalierError,
  type Extension,
  type ExtensionInstance,
  type KindName,
  type KubeObject,
  type Plugin,
  readAs,
  type Sync,
} from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { watchObjects } from '../cluster/watch.ts';
import { Departed, isOlder } from '../converge/departed.ts';
import { hashFields } from '../plan/fields.ts';
import { ourFieldsOf } from './manager.ts';

/** One kind of ours, whole, in memory: fed by a watch and by the answers to our own writes, whichever is newer. */
export class Store<T extends Stored> {
  readonly kind: KindName;
  readonly #objects = new Map<string, T>();
  readonly #fields = new Map<string, string>();
  readonly #departed = new Departed();
  readonly #onChange: (key: string, before: T | undefined, after: T | undefined) => void;
  readonly #view: (object: T) => T;

  /** `view`: what is known of an object beside what the API server says. */
  constructor(
    kind: KindName,
    onChange: (key: string, before: T | undefined, after: T | undefined) => void,
    view: (object: T) => T = (object) => object,
  ) {
    this.kind = kind;
    this.#onChange = onChange;
    this.#view = view;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  entries(): IterableIterator<[string, T]> {
    return this.#objects.entries();
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Hash of the fields that a Sync holds in the object: differs from the Sync's record when somebody edited them. */
  fields(key: string): string | undefined {
    return this.#fields.get(key);
  }

  /** The same of an answer, which is mostly what the store has just taken. */
  fieldsIn(answer: KubeObject): string {
    const key = keyOf(answer);
    const known = this.#objects.get(key)?.metadata;
    const { uid, resourceVersion } = answer.metadata;
    const isKnown = resourceVersion !== undefined && known?.uid === uid && known?.resourceVersion === resourceVersion;
    return (isKnown ? this.#fields.get(key) : undefined) ?? hashFields(ourFieldsOf(answer));
  }

  /** Takes an object from the watch or from an answer; one that is older than what is known, or gone, is dropped. */
  put(object: KubeObject): void {
    if (this.#departed.has(object.metadata.uid)) return;
    const key = keyOf(object);
    const before = this.#objects.get(key);
    if (isOlder(object.metadata.resourceVersion, before?.metadata.resourceVersion)) return;
    if (before !== undefined && before.metadata.resourceVersion === object.metadata.resourceVersion) return;
    this.#fields.set(key, hashFields(ourFieldsOf(object)));
    const { managedFields: _, ...metadata } = object.metadata;
    // The type parameter and `kind` are chosen together by whoever builds the store.
    const after = this.#view(readAs({ ...object, metadata }, this.kind) as Stored as T);
    this.#objects.set(key, after);
    this.#onChange(key, before, after);
  }

  /** The view of an object is another one now. */
  refresh(key: string): void {
    const before = this.#objects.get(key);
    if (before === undefined) return;
    const after = this.#view(before);
    if (after === before) return;
    this.#objects.set(key, after);
    this.#onChange(key, before, after);
  }

  remove(object: KubeObject): void {
    this.#departed.add(object.metadata.uid);
    const key = keyOf(object);
    const before = this.#objects.get(key);
    if (before === undefined || before.metadata.uid !== object.metadata.uid) return;
    this.#objects.delete(key);
    this.#fields.delete(key);
    this.#onChange(key, before, undefined);
  }

  /** Starts the watch; resolves when everything that exists is in the store. */
  follow(
    client: KubeClient,
    onlyNamespace: string | undefined,
    signal: AbortSignal,
    onTrouble: (error: EspalierError) => void,
  ): Promise<void> {
    const handlers = {
      onEvent: (type: 'added' | 'modified' | 'deleted', object: KubeObject) =>
        type === 'deleted' ? this.remove(object) : this.put(object),
      onError: onTrouble,
    };
    const target = { apiVersion: API_VERSION, kind: this.kind };
    const isScoped = onlyNamespace !== undefined && this.kind !== 'Extension';
    return watchObjects(client, isScoped ? { ...target, namespace: onlyNamespace } : target, handlers, { signal })
      .synced;
  }
}

export type Stored = Plugin | Sync | Extension | ExtensionInstance;

/** `namespace/name`: what the queues and maps of this room hold. */
export function keyOf(object: { metadata: { namespace?: string | undefined; name: string } }): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
}
