import { type KubeObject, type ObjectRef, refKey } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { watchObjects } from '../cluster/watch.ts';

interface Watched {
  object: KubeObject | undefined;
  synced: boolean;
  users: Set<string>;
  stop(): Promise<void>;
}

/**
 * Objects that Plugins refer to but don't own: dependencies of other kinds, gates, sources of values. Each is watched
 * by name for as long as a Plugin refers to it, and a change wakes those that do.
 */
export class OutsideObjects {
  readonly #watched = new Map<string, Watched>();
  readonly #client: KubeClient;
  readonly #signal: AbortSignal;
  readonly #wake: (user: string) => void;

  constructor(client: KubeClient, signal: AbortSignal, wake: (user: string) => void) {
    this.#client = client;
    this.#signal = signal;
    this.#wake = wake;
  }

  /** Makes exactly these objects watched on behalf of a user. */
  use(user: string, refs: readonly ObjectRef[]): void {
    const wanted = new Map(refs.map((ref) => [refKey(ref), ref]));
    for (const [key, ref] of wanted) (this.#watched.get(key) ?? this.#start(key, ref)).users.add(user);
    for (const [key, entry] of this.#watched) {
      if (wanted.has(key) || !entry.users.delete(user) || entry.users.size > 0) continue;
      this.#watched.delete(key);
      void entry.stop();
    }
  }

  /** `unknown` until the first list has answered: not yet known to be absent. */
  get(ref: ObjectRef): KubeObject | 'absent' | 'unknown' {
    const entry = this.#watched.get(refKey(ref));
    if (entry === undefined || !entry.synced) return entry?.object ?? 'unknown';
    return entry.object ?? 'absent';
  }

  #start(key: string, ref: ObjectRef): Watched {
    const entry: Watched = { object: undefined, synced: false, users: new Set(), stop: async () => undefined };
    this.#watched.set(key, entry);
    const wake = (): void => entry.users.forEach((user) => void this.#wake(user));
    const target = { apiVersion: ref.apiVersion, kind: ref.kind, fieldSelector: `metadata.name=${ref.name}` };
    const watch = watchObjects(
      this.#client,
      ref.namespace === undefined ? target : { ...target, namespace: ref.namespace },
      {
        onEvent: (type, object) => {
          entry.object = type === 'deleted' ? undefined : object;
          wake();
        },
      },
      { signal: this.#signal },
    );
    entry.stop = () => watch.stop();
    watch.synced.then(
      () => {
        entry.synced = true;
        wake();
      },
      () => undefined,
    );
    return entry;
  }
}
