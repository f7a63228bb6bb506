import type { Sync, SyncStatus } from '../api/index.ts';
import type { GitRepository } from '../git/repository.ts';

export type Base = NonNullable<SyncStatus['base']>;

/** How a commit stands to the one that removals are measured against. */
export type History = 'first' | 'forward' | 'rewritten' | 'unknown';

/**
 * What removals are measured against: what was in force before the first of those that still wait. The applied commit
 * itself won't do, or an ordinary commit on top of a held one would make its removals harmless.
 */
export function baseOf({ status }: Pick<Sync, 'status'>): Base | undefined {
  if (status?.base !== undefined) return status.base;
  return status?.commit === undefined
    ? undefined
    : { commit: status.commit, count: pluginsIn(status.inventory ?? []).length };
}

/** What a removal is measured in: an Extension or an instance that goes takes nothing along but its Plugin. */
export function pluginsIn<T extends { kind: string }>(entries: readonly T[]): T[] {
  return entries.filter(({ kind }) => kind === 'Plugin');
}

/** The repository must have the head. */
export async function historySince(
  repository: Pick<GitRepository, 'isAncestor'>,
  base: Base | undefined,
  head: string,
): Promise<History> {
  if (base === undefined) return 'first';
  if (base.commit === head) return 'forward';
  const answer = await repository.isAncestor(base.commit, head);
  return answer === 'yes' ? 'forward' : answer === 'no' ? 'rewritten' : 'unknown';
}
