import { isError, messageOf, type Sync } from '../../api/index.ts';
import type { PullRequest } from '../../forge/forge.ts';
import type { Plan } from '../../plan/whole.ts';
import { someOf } from '../../report/line.ts';
import { emptyPlan } from '../preview.ts';
import { type MergedPull, mergePull, type PullInput } from './plan-pull.ts';

/** A head that cannot be read is a fault of the pull request; that the server cannot be reached is not. */
export async function tryMerge(input: PullInput): Promise<MergedPull> {
  try {
    return await mergePull(input);
  } catch (error) {
    if (!isError(error, 'GitTooLarge', 'GitUnsafePath', 'GitProtocolError')) throw error;
    return { state: 'unrelated', why: `can't be read: ${messageOf(error)}` };
  }
}

/** The plan of what can't be merged: a fault, and nothing else. */
export function faultPlan(
  sync: Sync,
  { head }: Pick<PullRequest, 'head'>,
  merged: Exclude<MergedPull, { state: 'merged' }>,
): Plan {
  const message =
    merged.state === 'conflict'
      ? `does not merge: both sides changed ${someOf(merged.paths)}; merge or rebase onto the base`
      : merged.why;
  return { ...emptyPlan(sync, head.commit), faults: [{ message }] };
}
