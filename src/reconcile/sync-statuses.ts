import { isError, refOf, type Sync, type SyncStatus } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import type { Store } from './store.ts';
import { writeStatus } from './write-status.ts';

/** What the status is to become, given the Sync with the status that it has by then. Must not throw. */
type Change = (sync: Sync) => SyncStatus;

/** What one change made of what. */
interface Changed {
  before: SyncStatus | undefined;
  after: SyncStatus;
}

interface Wish {
  change: Change;
  done: PromiseWithResolvers<Changed | undefined>;
}

/**
 * Writes the statuses of Syncs, one write at a time for each: what is wanted meanwhile goes together into the next one.
 * A status costs the API server as much as it lists, and of two writes that meet there one is done twice.
 */
export class SyncStatuses {
  readonly #client: Pick<KubeClient, 'patch' | 'update'>;
  readonly #syncs: Pick<Store<Sync>, 'get' | 'put'>;
  readonly #lines = new Map<string, Wish[]>();

  constructor(client: Pick<KubeClient, 'patch' | 'update'>, syncs: Pick<Store<Sync>, 'get' | 'put'>) {
    this.#client = client;
    this.#syncs = syncs;
  }

  /** Resolves when the change is in the cluster; with nothing where the Sync is gone. */
  async change(key: string, change: Change): Promise<Changed | undefined> {
    const wish = { change, done: Promise.withResolvers<Changed | undefined>() };
    const line = this.#lines.get(key);
    if (line === undefined) {
      this.#lines.set(key, [wish]);
      void this.#work(key);
    } else line.push(wish);
    return await wish.done.promise;
  }

  async #work(key: string): Promise<void> {
    for (;;) {
      const wishes = this.#lines.get(key)?.splice(0) ?? [];
      if (wishes.length === 0) break;
      await this.#serve(key, wishes);
    }
    this.#lines.delete(key);
  }

  async #serve(key: string, wishes: readonly Wish[]): Promise<void> {
    try {
      const changed = await this.#write(key, wishes);
      wishes.forEach(({ done }, index) => void done.resolve(changed[index]));
    } catch (error) {
      // What the API server does not take from one must not keep back what the others have to say.
      const isOfOne = wishes.length > 1 && isError(error) && !error.retry;
      if (isOfOne) for (const wish of wishes) await this.#serve(key, [wish]);
      else for (const { done } of wishes) done.reject(error);
    }
  }

  async #write(key: string, wishes: readonly Wish[]): Promise<Changed[]> {
    const sync = this.#syncs.get(key);
    if (sync?.metadata.uid === undefined) return [];
    let status = sync.status;
    const changed: Changed[] = [];
    for (const { change } of wishes) {
      const after = change(status === undefined ? sync : { ...sync, status });
      changed.push({ before: status, after });
      status = after;
    }
    try {
      const ref = { ...refOf(sync), uid: sync.metadata.uid };
      const written = await writeStatus(this.#client, ref, sync.status, status ?? {});
      if (written !== undefined) this.#syncs.put(written);
      return changed;
    } catch (error) {
      if (isError(error, 'KubeNotFound')) return [];
      throw error;
    }
  }
}
