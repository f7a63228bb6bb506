import type { Plugin } from '../api/index.ts';
import { isPending } from '../release/record.ts';
import { type RecordHead, shortKey } from './release-records.ts';
import { keyOf } from './store.ts';

/** On the record of a revision that takes another one back. */
export const ROLLBACK_KEY = 'rollback';

/** Whether what failed with these inputs was taken back. */
export function isRolledBack(plugin: Plugin, key: string): boolean {
  return plugin.status?.release?.rolledBack?.key === key;
}

/** Under which key a Plugin's rendering is kept: taken back, the same inputs stand for another revision. */
export function renderKey(plugin: Plugin, key: string): string {
  return isRolledBack(plugin, key) ? `${key} back to ${plugin.status?.release?.rolledBack?.revision}` : key;
}

/** The record that holds what these inputs made, where there is one of ours. */
export function recordFor(plugin: Plugin, key: string, heads: readonly RecordHead[]): RecordHead | undefined {
  const { release } = plugin.status ?? {};
  if (release === undefined) return undefined;
  const written = heads.find((head) => isWritten(head, plugin));
  if (!isRolledBack(plugin, key)) return written?.key === shortKey(key) ? written : undefined;
  return written?.key === ROLLBACK_KEY ? written : heads.find((head) => head.revision === release.rolledBack?.revision);
}

/** The record that the Plugin's status says is being written. Helm copies our labels, but not to a revision of that number. */
function isWritten(head: RecordHead, { status }: Plugin): boolean {
  const { release } = status ?? {};
  return release !== undefined && head.revision === release.revision && head.attempt === release.attempt;
}

/** The revision of somebody else's that is in force and may become the Plugin's as it is. */
export function adoptable({ spec }: Plugin, heads: readonly RecordHead[]): RecordHead | undefined {
  const last = heads.at(-1);
  if (!spec.apply.adopt || last?.status !== 'deployed' || heads.some(({ owner }) => owner !== undefined))
    return undefined;
  return last;
}

/** What is to be done to bring a release to a Plugin's inputs. */
export type ReleaseStep =
  | { step: 'resume'; head: RecordHead }
  | { step: 'begin'; revision: number; event: 'install' | 'upgrade' | 'rollback'; abandoned: RecordHead | undefined }
  /** Nothing but our labels is missing on the record. */
  | { step: 'take'; head: RecordHead }
  | { step: 'locked'; head: RecordHead }
  | { step: 'foreign'; owner: string | undefined };

/**
 * Decides by the labels of the records alone. A revision that somebody else is making is theirs, whatever it is called.
 * `fromRevision`: the one whose record the Plugin's objects were read from.
 */
export function nextStep(
  plugin: Plugin,
  key: string,
  heads: readonly RecordHead[],
  fromRevision?: number,
): ReleaseStep {
  const written = heads.find((head) => isWritten(head, plugin));
  const wantedKey = isRolledBack(plugin, key) ? ROLLBACK_KEY : shortKey(key);
  const last = heads.at(-1);
  if (written !== undefined && written === last && written.key === wantedKey && written.status !== 'uninstalling')
    return { step: 'resume', head: written };
  if (last !== undefined && isPending(last.status) && last !== written) return { step: 'locked', head: last };
  const owner = heads.findLast((head) => head.owner !== undefined)?.owner;
  if (last !== undefined && owner !== keyOf(plugin) && !(owner === undefined && plugin.spec.apply.adopt))
    return { step: 'foreign', owner };
  const standing = adoptable(plugin, heads);
  if (standing !== undefined && standing.revision === fromRevision) return { step: 'take', head: standing };
  const isNew = last === undefined || last.status === 'uninstalled';
  const event = isRolledBack(plugin, key) ? 'rollback' : isNew ? 'install' : 'upgrade';
  const abandoned = written !== undefined && isPending(written.status) ? written : undefined;
  return { step: 'begin', revision: (last?.revision ?? 0) + 1, event, abandoned };
}
