import { isError, messageOf } from '../api/index.ts';
import type { SyncParts } from './sync-parts.ts';

export interface Trouble {
  reason: string;
  message: string;
}

/** Why the forge could not be told or asked, by Sync: it stands in the Sync's status until it is over. */
export class ForgeTroubles {
  readonly #troubles = new Map<string, Map<string, Trouble>>();

  of(key: string): Trouble | undefined {
    return this.#troubles.get(key)?.values().next().value;
  }

  /** Does something with the forge of a Sync, and notes how it went. Each `what` has its own trouble. */
  async about<T>(
    parts: Pick<SyncParts, 'wakeSync'>,
    key: string,
    signal: AbortSignal,
    act: () => Promise<T>,
    what = 'answers',
  ): Promise<T> {
    const before = JSON.stringify(this.of(key));
    const all = this.#troubles.get(key) ?? new Map<string, Trouble>();
    this.#troubles.set(key, all);
    try {
      const result = await act();
      all.delete(what);
      return result;
    } catch (error) {
      if (!signal.aborted && !isError(error, 'LeaseLost', 'Aborted') && isForges(error))
        all.set(what, { reason: isError(error) ? error.code : 'Internal', message: messageOf(error) });
      throw error;
    } finally {
      if (JSON.stringify(this.of(key)) !== before) parts.wakeSync(key);
    }
  }

  forget(key: string): void {
    this.#troubles.delete(key);
  }
}

/** The API server has its own ways of being told about. */
function isForges(error: unknown): boolean {
  return isError(error) && error.code.startsWith('Forge');
}
