import type { Answer, SentStatus } from '../api/index.ts';
import type { Step } from './trail.ts';
import type { Verdict } from './verdict.ts';

/** What a commit was told last under a context. */
export function findSaid(record: readonly Answer[], commit: string, context: string): Verdict | undefined {
  const found = record.find((one) => one.commit === commit)?.statuses.find((one) => one.context === context);
  return found === undefined ? undefined : { state: found.state, description: found.description };
}

/** The record with the commits of the trail, and with no others. */
export function alongTrail(record: readonly Answer[], trail: readonly Step[]): Answer[] {
  return trail.map(({ commit, plugins }) => {
    const known = record.find((one) => one.commit === commit);
    return { ...known, commit, plugins: [...plugins], statuses: known?.statuses ?? [] };
  });
}

export function withStatus(record: readonly Answer[], commit: string, status: SentStatus): Answer[] {
  return record.map((answer) =>
    answer.commit === commit
      ? {
          ...answer,
          statuses: [...answer.statuses.filter(({ context }) => context !== status.context), status].toSorted((a, b) =>
            a.context.localeCompare(b.context),
          ),
        }
      : answer,
  );
}

/** Commits with something that may or may not have reached the forge. */
export function unsureCommits(record: readonly Answer[]): string[] {
  return record.filter(({ statuses }) => statuses.some(({ sent }) => !sent)).map(({ commit }) => commit);
}

/** What was under way when a delivery broke off, as the forge has it. */
export function confirm(
  record: readonly Answer[],
  commit: string,
  there: readonly { context: string; state: SentStatus['state']; description: string }[],
): Answer[] {
  const confirmed = (status: SentStatus): SentStatus[] => {
    if (status.sent) return [status];
    const found = there.find(({ context }) => context === status.context);
    if (found === undefined) return [];
    return [{ context: found.context, state: found.state, description: found.description, sent: true }];
  };
  return record.map((answer) =>
    answer.commit === commit ? { ...answer, statuses: answer.statuses.flatMap(confirmed) } : answer,
  );
}
