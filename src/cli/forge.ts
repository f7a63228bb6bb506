import { describeRef, EspalierError, refOf, type Sync } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import type { Forge } from '../forge/forge.ts';
import { openForge } from '../forge/open-forge.ts';
import { forgeOptionsOf, forgeRefs, missingForForge } from '../reconcile/forge-options.ts';
import type { FoundObject } from '../reconcile/repository-options.ts';
import { ASKED_FOR } from './repository.ts';

/** Opens the forge of a Sync for one command, with the login of the Sync's own Secret. */
export async function withForge<T>(
  client: KubeClient,
  sync: Sync,
  use: (forge: Forge, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const found = await Promise.all(
    forgeRefs(sync).map(async (ref): Promise<FoundObject> => {
      const object = await client.get(ref);
      if (object === undefined) throw missingForForge(ref);
      return [ref, object];
    }),
  );
  const options = forgeOptionsOf(sync, found);
  if (options === undefined) {
    const message = `${describeRef(refOf(sync))} has no spec.forge, so nothing is known of its forge: say there which forge it is, and which Secret holds a token (docs/forges.md)`;
    throw new EspalierError('CommandRefused', message);
  }
  const forge = openForge({ ...options, policy: ASKED_FOR, now: Date.now });
  const ended = new AbortController();
  try {
    return await use(forge, ended.signal);
  } finally {
    ended.abort();
    await forge.close();
  }
}
