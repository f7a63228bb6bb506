import { labelSelector, messageOf, type Selection } from '../api/index.ts';
import type { KubeClient, ListTarget } from '../cluster/client.ts';
import { watchObjects } from '../cluster/watch.ts';
import { SelectedHealth } from './selected-health.ts';

/** A selection with what decides whether its objects are ready: CEL, or else the usual rules. */
export interface WatchedSelection extends Selection {
  ready?: string;
}

interface Watched {
  health: SelectedHealth;
  synced: boolean;
  trouble: string | undefined;
  users: Set<string>;
  stop(): Promise<void>;
}

/** Counts change often while a cluster grows; that all are ready is told at once. */
const STEP_DELAY_MS = 1_000;

/**
 * Every object of a kind, for Plugins that wait until all are ready. Unlike single objects, these are watched only
 * while somebody waits: who does not ask during a look lets go of them.
 */
export class Selections {
  readonly #watched = new Map<string, Watched>();
  readonly #asked = new Map<string, Set<string>>();
  readonly #client: KubeClient;
  readonly #signal: AbortSignal;
  readonly #wake: (user: string, options: { after?: number }) => void;

  constructor(client: KubeClient, signal: AbortSignal, wake: (user: string, options: { after?: number }) => void) {
    this.#client = client;
    this.#signal = signal;
    this.#wake = wake;
  }

  /** Why not all are ready. From now on a change of that wakes the user, until a look that doesn't ask. */
  whyNot(user: string, selection: WatchedSelection): string | undefined {
    const key = keyOf(selection);
    const entry = this.#watched.get(key) ?? this.#start(key, selection);
    entry.users.add(user);
    const asked = this.#asked.get(user);
    if (asked === undefined) this.#asked.set(user, new Set([key]));
    else asked.add(key);
    return whyNot(entry);
  }

  /** A look at the user is over: what it did not ask for is no longer watched on its behalf. */
  looked(user: string): void {
    const asked = this.#asked.get(user);
    this.#asked.delete(user);
    for (const [key, entry] of this.#watched) {
      if (asked?.has(key) === true || !entry.users.delete(user) || entry.users.size > 0) continue;
      this.#watched.delete(key);
      void entry.stop();
    }
  }

  #start(key: string, selection: WatchedSelection): Watched {
    const entry: Watched = {
      health: new SelectedHealth(selection.ready),
      synced: false,
      trouble: undefined,
      users: new Set(),
      stop: async () => undefined,
    };
    this.#watched.set(key, entry);
    let said = whyNot(entry);
    const tell = (): void => {
      const now = whyNot(entry);
      if (now === said) return;
      said = now;
      for (const user of entry.users) this.#wake(user, now === undefined ? {} : { after: STEP_DELAY_MS });
    };
    const watch = watchObjects(
      this.#client,
      listTarget(selection),
      {
        onEvent(type, object) {
          entry.health.change(type, object);
          tell();
        },
        onSync() {
          entry.synced = true;
          entry.trouble = undefined;
          tell();
        },
        onError(error) {
          entry.trouble = messageOf(error);
          tell();
        },
      },
      { signal: this.#signal },
    );
    entry.stop = () => watch.stop();
    return entry;
  }
}

/** How to ask for the objects. */
export function listTarget({ apiVersion, kind, namespace, labels = {} }: Selection): ListTarget {
  const selector = labelSelector(labels);
  return {
    apiVersion,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    ...(selector === '' ? {} : { labelSelector: selector }),
  };
}

function whyNot({ synced, trouble, health }: Watched): string | undefined {
  if (synced) return health.whyNot();
  return trouble === undefined ? 'not seen yet' : `not seen yet: ${trouble}`;
}

function keyOf({ apiVersion, kind, namespace = '', labels = {}, ready = '' }: WatchedSelection): string {
  return JSON.stringify([apiVersion, kind, namespace, labelSelector(labels), ready]);
}
