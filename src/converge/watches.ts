import { groupOf, type KubeObject, LABEL } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { watchObjects } from '../cluster/watch.ts';

export interface KindRef {
  apiVersion: string;
  kind: string;
}

export interface KindWatch {
  synced: Promise<void>;
  wake(): void;
  stop(): Promise<void>;
}

export interface KindWatchesOptions {
  client: KubeClient;
  /** Only objects of Plugins in this namespace. */
  onlyNamespace: string | undefined;
  signal: AbortSignal;
  onEvent(type: 'added' | 'modified' | 'deleted', object: KubeObject): void;
  /** What of that kind exists, as of a version. */
  onListed(kind: KindRef, names: ReadonlySet<string>, resourceVersion: string): void;
  /** Everything of that kind has been seen; `users` had asked for it. */
  onSynced(kind: KindRef, users: ReadonlySet<string>): void;
}

/** One watch for each kind that we own objects of, on our ownership label; started when first needed, stopped when nobody uses it. */
export class KindWatches {
  readonly #options: KindWatchesOptions;
  readonly #watches = new Map<string, { kind: KindRef; watch: KindWatch; synced: boolean; users: Set<string> }>();

  constructor(options: KindWatchesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#watches.size;
  }

  /** Makes exactly these kinds watched on behalf of a user (a Plugin). */
  use(user: string, kinds: Iterable<KindRef>): void {
    const wanted = new Map([...kinds].map((kind) => [groupKind(kind), kind]));
    for (const [key, kind] of wanted) this.#start(key, kind).users.add(user);
    for (const [key, entry] of this.#watches) {
      if (wanted.has(key) || !entry.users.delete(user) || entry.users.size > 0) continue;
      this.#watches.delete(key);
      void entry.watch.stop();
    }
  }

  /** True once the watch of that kind has listed what exists: from then on, "not there" means not there. */
  isSynced(kind: KindRef): boolean {
    return this.#watches.get(groupKind(kind))?.synced ?? false;
  }

  /** A definition was just established: watches of kinds that were not served try again at once. */
  retry(): void {
    for (const { watch } of this.#watches.values()) watch.wake();
  }

  /** An object of the kind was just written: its watch need not wait to find out that the kind is served. */
  served(kind: KindRef): void {
    this.#watches.get(groupKind(kind))?.watch.wake();
  }

  /** Who uses the kind. */
  usersOf(kind: KindRef): Iterable<string> {
    return this.#watches.get(groupKind(kind))?.users ?? [];
  }

  #selector(): string {
    const { onlyNamespace } = this.#options;
    return onlyNamespace === undefined ? LABEL.plugin : `${LABEL.plugin},${LABEL.pluginNamespace}=${onlyNamespace}`;
  }

  #start(key: string, kind: KindRef) {
    const running = this.#watches.get(key);
    if (running !== undefined) return running;
    const watch = watchObjects(
      this.#options.client,
      { apiVersion: kind.apiVersion, kind: kind.kind, labelSelector: this.#selector() },
      {
        onEvent: (type, object) => this.#options.onEvent(type, object),
        onSync: (names, version) => {
          if (version !== undefined) this.#options.onListed(kind, names, version);
        },
      },
      { signal: this.#options.signal },
    );
    const entry = { kind, watch, synced: false, users: new Set<string>() };
    this.#watches.set(key, entry);
    watch.synced.then(
      () => {
        entry.synced = true;
        this.#options.onSynced(kind, entry.users);
      },
      () => undefined,
    );
    return entry;
  }
}

export function groupKind(kind: KindRef): string {
  return `${groupOf(kind.apiVersion)}/${kind.kind}`;
}
