import { FINALIZER, isError, type KubeObject, messageOf } from '../../api/index.ts';
import { dropFinalizer } from '../finalizer.ts';
import { regarding } from '../regarding.ts';
import type { SyncParts } from '../sync-parts.ts';
import { covering } from './coverage.ts';
import { serveKubegems } from './definition.ts';

const ESTABLISHED_MS = 200;

/** Follows KubeGems objects while a Sync wants it, and lets go of all of them when none does any more. */
export async function decideWhether(parts: SyncParts): Promise<{ requeueAfterMs: number } | undefined> {
  const { kubegems, wakeKubegems } = parts;
  const syncs = covering(parts.syncs.values());
  if (syncs.length === 0) return await letAllGo(parts);
  kubegems.hasLetGo = false;
  try {
    if (!(await serveKubegems(parts.client))) return { requeueAfterMs: ESTABLISHED_MS };
  } catch (error) {
    const reason = isError(error) ? error.code : 'Internal';
    const note = `KubeGems objects are not looked after: ${messageOf(error)}`;
    for (const sync of syncs)
      parts.events.record({ regarding: regarding(sync), action: 'Serve', type: 'Warning', reason, note });
    throw error;
  }
  kubegems.follow();
  // Which Sync it is that looks after them may have changed.
  for (const key of kubegems.keys()) wakeKubegems(key);
  return undefined;
}

/** Once, also for what was looked after before this agent started: a finalizer that nobody takes away keeps them for ever. */
async function letAllGo(parts: SyncParts): Promise<undefined> {
  const { client, kubegems } = parts;
  if (kubegems.hasLetGo) return;
  await kubegems.leave();
  for (const object of await everKept(parts)) await dropFinalizer({ client, storeFor: () => undefined }, object);
  kubegems.hasLetGo = true;
}

async function everKept({ client, kubegems }: SyncParts): Promise<KubeObject[]> {
  try {
    const { items } = await client.list(kubegems.target);
    return items.filter(({ metadata }) => metadata.finalizers?.includes(FINALIZER));
  } catch (error) {
    // Where they are not served, or may not be read, none was ever looked after.
    if (isError(error, 'KubeKindUnknown', 'KubeForbidden')) return [];
    throw error;
  }
}
