import { EspalierError } from '../api/errors.ts';
import type { Plugin, Sync } from '../api/index.ts';
import { CONDITION } from '../api/names.ts';
import { plain } from '../plan/plain.ts';
import { isSync, type Ours, shortCommit } from './standing.ts';
import { shown } from './target.ts';

/** Something that waits for a person's consent. */
export interface Held {
  /** `sync/platform` */
  name: string;
  namespace: string;
  /** What consent must name; undefined when consent would not help. */
  commit: string | undefined;
  reason: string;
  /** What would be removed, where that is known. */
  objects: string[];
}

/** What is held of an object, and of the Plugins that a Sync wrote. */
export function heldOf(object: Ours, plugins: readonly Plugin[], sync?: Sync): Held[] {
  if (!isSync(object)) return isHeld(object) ? [heldPlugin(object, sync)] : [];
  const own = object.status?.held === undefined ? [] : [heldSync(object, object.status.held)];
  return [...own, ...plugins.filter(isHeld).map((plugin) => heldPlugin(plugin, object))];
}

function isHeld({ status }: Plugin): boolean {
  return status?.phase === 'Held';
}

function heldSync(sync: Sync, held: NonNullable<NonNullable<Sync['status']>['held']>): Held {
  return {
    ...naming(sync),
    commit: held.commit,
    reason: withoutCommand(held.reason),
    objects: (held.objects ?? []).map(plain),
  };
}

/** Other holds, such as rendering nothing, end by a change of the declaration; their message says which. */
const ENDED_BY_CONSENT: readonly string[] = ['PruneHeld', 'ApprovalRequired'];

function heldPlugin(plugin: Plugin, sync: Sync | undefined): Held {
  const why = plugin.status?.conditions?.find(({ type }) => type === CONDITION.Held)?.reason ?? '';
  const commit = ENDED_BY_CONSENT.includes(why)
    ? (plugin.spec.source.git?.commit ?? sync?.status?.observed?.commit)
    : undefined;
  return { ...naming(plugin), commit, reason: withoutCommand(plugin.status?.message ?? ''), objects: [] };
}

function naming({ kind, metadata: { name, namespace = '' } }: Ours): { name: string; namespace: string } {
  return { name: shown({ kind, name }), namespace };
}

/** A status tells readers of `kubectl` which command to run; here it stands below by itself. */
function withoutCommand(reason: string): string {
  return plain(reason.replace(/;\s*approve(?: it)?: espalier approve .*$/s, ''));
}

/**
 * The commits that consent to an object may name: what is held, and what its Sync saw last. Consent to anything else
 * would stay without effect, and a person would think it was given.
 */
export function approvable(object: Ours, held: readonly Held[], sync?: Sync): string[] {
  const seen = isSync(object) ? object.status?.observed?.commit : sync?.status?.observed?.commit;
  const own = isSync(object) ? undefined : object.spec.source.git?.commit;
  const commits = [...held.map(({ commit }) => commit), own, seen];
  return [...new Set(commits.filter((commit) => commit !== undefined))];
}

const LEAST_DIGITS = 4;

/** The whole id of the commit that a person named by its beginning. Refused when that isn't one of those that may be named. */
export function resolveCommit(
  given: string,
  commits: readonly string[],
  { name, namespace }: { name: string; namespace: string },
): string {
  const text = given.toLowerCase();
  if (!/^[0-9a-f]+$/.test(text) || text.length < LEAST_DIGITS) {
    throw refused(`"${given}" is no commit: give its id, or at least ${LEAST_DIGITS} digits of its beginning`);
  }
  const matching = commits.filter((commit) => commit.startsWith(text));
  const [only, ...others] = matching;
  if (only !== undefined && others.length === 0) return only;
  if (others.length > 0) throw refused(`"${given}" is the beginning of ${matching.join(' and ')}: give more digits`);
  if (commits.length === 0) throw refused(`${name} has not seen any commit yet: there is nothing to approve`);
  const known = commits.map(shortCommit).join(' and ');
  throw refused(
    `${name} knows no commit ${given}: what can be approved is ${known}. If it was pushed just now, run "espalier reconcile ${name} -n ${namespace}" first`,
  );
}

function refused(message: string): EspalierError {
  return new EspalierError('InvalidConfiguration', message, { retry: false });
}
