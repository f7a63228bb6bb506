import type { Sync } from '../api/index.ts';
import type { Forge } from '../forge/forge.ts';
import { Gates } from '../forge/limit.ts';
import { openForge } from '../forge/open-forge.ts';
import type { UrlPolicy } from '../git/url.ts';
import type { Clock } from '../runtime/clock.ts';
import { forgeOptionsOf, forgeRefs, missingForForge } from './forge-options.ts';
import type { OutsideObjects } from './outside.ts';
import type { FoundObject } from './repository-options.ts';
import { keyOf } from './store.ts';

export interface ForgesOptions {
  outside: Pick<OutsideObjects, 'get'>;
  policy: UrlPolicy;
  clock: Clock;
}

/** Open forges, one for each Sync that has one; opened again when its Secret or its declaration changes. */
export class Forges {
  readonly #options: ForgesOptions;
  readonly #gates = new Gates();
  readonly #open = new Map<string, { version: string; forge: Forge }>();

  constructor(options: ForgesOptions) {
    this.#options = options;
  }

  /** Undefined where there is none, or what it needs has not been seen yet: its watch wakes the Sync. */
  of(sync: Sync): Forge | undefined {
    const key = keyOf(sync);
    const found: FoundObject[] = [];
    for (const ref of forgeRefs(sync)) {
      const object = this.#options.outside.get(ref);
      if (object === 'unknown') return undefined;
      if (object === 'absent') throw missingForForge(ref);
      found.push([ref, object]);
    }
    const options = forgeOptionsOf(sync, found);
    if (options === undefined) {
      this.forget(key);
      return undefined;
    }
    const versions = found.map(([, { metadata }]) => metadata.resourceVersion ?? '');
    const version = JSON.stringify([versions, options.kind, options.url, options.repositoryUrl, options.proxy]);
    const known = this.#open.get(key);
    if (known?.version === version) return known.forge;
    this.forget(key);
    const forge = openForge({
      ...options,
      policy: this.#options.policy,
      now: () => this.#options.clock.now(),
      gates: this.#gates,
    });
    this.#open.set(key, { version, forge });
    return forge;
  }

  forget(key: string): void {
    const known = this.#open.get(key);
    this.#open.delete(key);
    void known?.forge.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ forge }) => forge.close()));
    this.#open.clear();
  }
}
