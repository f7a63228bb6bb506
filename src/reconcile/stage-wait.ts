import { describeRef, type KubeObject, type ObjectRef, refKey, refOf } from '../api/index.ts';
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
  const healthOf = (ref: ObjectRef) => parts.owned.get(refKey(ref))?.health;
  const lateOne = () => refs.find((ref) => healthOf(ref)?.state !== 'healthy');
  await comesTrue(parts, () => lateOne() === undefined, DEADLINE_MS, signal);
  const late = lateOne();
  if (late === undefined) return undefined;
  return `${describeRef(late)}: ${healthOf(late)?.message ?? 'not seen'} after ${DEADLINE_MS / 1000} s`;
}

/**
 * Waits until the kinds of what runs once are watched. A Job may be over and gone in a moment: had its kind not been watched
 * by then, nobody would know that it has run. Goes on without, late: to run it twice is better than never.
 */
export async function awaitWatched(parts: Parts, objects: readonly KubeObject[], signal: AbortSignal): Promise<void> {
  const passing = objects.filter((object) => runsByCreation(object) && onceKeyOf(object) !== undefined);
  await comesTrue(parts, () => passing.every((kind) => parts.watches.isSynced(kind)), WATCH_DEADLINE_MS, signal);
}

/** Returns as soon as it is true, or when it took too long. */
async function comesTrue(
  { clock }: Parts,
  isTrue: () => boolean,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<void> {
  const until = clock.now() + deadlineMs;
  while (!isTrue() && clock.now() < until) await sleep(LOOK_EVERY_MS, { clock, signal });
}
