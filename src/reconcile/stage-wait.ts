import { describeRef, type KubeObject, refKey, refOf } from '../api/index.ts';
import { onceKeyOf, runsByCreation } from '../plan/once.ts';
import { sleep } from '../runtime/clock.ts';
import type { Parts } from './parts.ts';

const DEADLINE_MS = 30_000;
const WATCH_DEADLINE_MS = 10_000;
const LOOK_EVERY_MS = 25;

/** Waits until CRDs are established and namespaces active, as their watches tell; says what is not, once it has waited enough. */
export async function awaitSettled(
  parts: Parts,
  objects: readonly KubeObject[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const refs = objects.map((object) => refOf(object));
  const until = parts.clock.now() + DEADLINE_MS;
  for (;;) {
    const late = refs.find((ref) => parts.owned.get(refKey(ref))?.health.state !== 'healthy');
    if (late === undefined) return undefined;
    if (parts.clock.now() >= until)
      return `${describeRef(late)}: ${parts.owned.get(refKey(late))?.health.message ?? 'not seen'} after ${DEADLINE_MS / 1000} s`;
    await sleep(LOOK_EVERY_MS, { clock: parts.clock, signal });
  }
}

/**
 * Waits until the kinds of what runs once are watched. A Job may be over and gone in a moment: had its kind not been watched
 * by then, nobody would know that it has run. Goes on without, late: to run it twice is better than never.
 */
export async function awaitWatched(parts: Parts, objects: readonly KubeObject[], signal: AbortSignal): Promise<void> {
  const passing = objects.filter((object) => runsByCreation(object) && onceKeyOf(object) !== undefined);
  const until = parts.clock.now() + WATCH_DEADLINE_MS;
  while (passing.some((kind) => !parts.watches.isSynced(kind)) && parts.clock.now() < until)
    await sleep(LOOK_EVERY_MS, { clock: parts.clock, signal });
}
