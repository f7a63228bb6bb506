import {
  ANNOTATION,
  describeRef,
  EspalierError,
  type KubeObject,
  type Plugin,
  refKey,
  refOf,
  timestamp,
} from '../api/index.ts';
import type { Inventory } from '../converge/inventory.ts';
import { isRunOver, type OnceWish, onceKeyOf } from '../plan/once.ts';
import type { Parts } from './parts.ts';
import { isDeclared } from './records.ts';
import type { Rendered } from './rendered.ts';

/** It stands in status and plans. */
const LONGEST_KEY = 200;

/** Which rendered objects run once, and for which key. */
export function onceIn(
  { spec }: Plugin,
  objects: readonly KubeObject[],
): { keys: ReadonlyMap<string, string>; warnings: string[] } {
  const keys = new Map<string, string>();
  const warnings: string[] = [];
  for (const object of objects) {
    const key = onceKeyOf(object);
    if (key === undefined) continue;
    const name = describeRef(refOf(object));
    if (spec.kind === 'helm') {
      warnings.push(
        `${name}: ${ANNOTATION.once} means nothing in a Helm release, it is kept like any object; make it a hook (helm.sh/hook)`,
      );
      continue;
    }
    if (key.trim() === '' || key.length > LONGEST_KEY) {
      const message = `${name}: ${ANNOTATION.once} must be a text of 1 to ${LONGEST_KEY} characters that changes when it is to run again, such as a version`;
      throw new EspalierError('RenderRefused', message, { retry: false });
    }
    keys.set(refKey(refOf(object)), key);
  }
  return { keys, warnings };
}

/** What a plan is asked about objects that run once. */
export function onceWishes(
  rendered: Pick<Rendered, 'once' | 'hashes'>,
  record: Inventory,
  rerun: ReadonlySet<string>,
): Map<string, OnceWish> {
  return new Map(
    [...rendered.once].map(([at, key]) => [
      at,
      { key, changed: record.get(at)?.applied !== rendered.hashes.get(at), rerun: rerun.has(at) },
    ]),
  );
}

/** What failed or went before it had run: what runs again where somebody asks for it. */
export function toRunAgain({ owned }: Pick<Parts, 'owned'>, record: Inventory): Set<string> {
  const unfinished = [...record].filter(
    ([, entry]) => entry.once !== undefined && !isRunOver(entry) && isDeclared(entry),
  );
  return new Set(unfinished.map(([at]) => at).filter((at) => (owned.get(at)?.health.state ?? 'failed') === 'failed'));
}

/**
 * The record with what has run by now. It need not be there any more: what removes itself when it is done was seen to
 * be done before. The same record where there is no news.
 */
export function noteRuns({ owned, clock }: Pick<Parts, 'owned' | 'clock'>, record: Inventory): Inventory {
  const news = [...record].flatMap(([at, entry]) => {
    if (entry.once === undefined || isRunOver(entry)) return [];
    const ran = owned.ran(at);
    const isIt = ran !== undefined && ran.uid === entry.uid && ran.once === entry.once.key;
    return isIt ? [[at, { ...entry, once: { ...entry.once, at: timestamp(clock.now()) } }] as const] : [];
  });
  return news.length === 0 ? record : new Map([...record, ...news]);
}
