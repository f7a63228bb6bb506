import { shorten } from '../api/one-line.ts';
import { someOf } from './line.ts';
import type { Verdict } from './verdict.ts';

/** An object that somebody changed by hand. */
export interface Drifted {
  plugin: string;
  /** `Deployment web/frontend` */
  object: string;
  fields: readonly string[];
  by?: string;
}

/**
 * What is said of drift, in order: a change that was undone at once is told as what it was, then as repaired. Empty
 * when there is nothing to say yet.
 */
export function driftVerdicts(
  drifted: readonly Drifted[],
  repaired: readonly Drifted[],
  before: Verdict | undefined,
  isSettled: boolean,
): Verdict[] {
  if (drifted.length > 0) return [{ state: 'failure', description: shorten(`changed by hand: ${named(drifted)}`) }];
  if (repaired.length > 0) {
    const success: Verdict = { state: 'success', description: shorten(`repaired: ${named(repaired)}`) };
    if (before?.state === 'failure') return [success];
    return [{ state: 'failure', description: shorten(`changed by hand: ${named(repaired)}`) }, success];
  }
  if (before?.state === 'success') return [before];
  if (before === undefined && !isSettled) return [];
  const description = before === undefined ? 'the cluster is as declared' : 'the cluster is as declared again';
  return [{ state: 'success', description }];
}

function named(drifted: readonly Drifted[]): string {
  const told = drifted.map(({ plugin, object, fields, by }) => {
    const what = fields.length === 0 ? '' : ` ${someOf(fields, 2)}`;
    return `${plugin}: ${object}${what}${by === undefined ? '' : ` by ${by}`}`;
  });
  return someOf(told, 2);
}
