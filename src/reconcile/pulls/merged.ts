import { ANNOTATION, type PlannedPull, refOf, SYNC_MANAGER, type Sync } from '../../api/index.ts';
import type { GitRepository } from '../../git/repository.ts';
import { differences } from '../../report/outline.ts';
import { withNested } from '../preview-nested.ts';
import { regarding } from '../regarding.ts';
import type { SyncParts } from '../sync-parts.ts';

const APPROVALS_KEPT = 10;

export interface MergedFrom {
  commit: string;
  pull: PlannedPull;
}

/**
 * The pull request that a commit came from: the one whose merge was to make the very same files, however it was merged,
 * or whose head is among the commit's parents.
 */
export async function pullBehind(
  sync: Sync,
  repository: Pick<GitRepository, 'treeId' | 'commit'>,
  commit: string,
): Promise<{ pull: PlannedPull; isExact: boolean } | undefined> {
  const pulls = (sync.status?.pullRequests ?? []).filter(({ tree }) => tree !== undefined);
  if (pulls.length === 0) return undefined;
  const tree = await repository.treeId(commit);
  const exact = pulls.find((pull) => pull.tree === tree);
  if (exact !== undefined) return { pull: exact, isExact: true };
  const { parents } = await repository.commit(commit);
  const parent = pulls.find(({ head }) => head === commit || parents.includes(head));
  return parent === undefined ? undefined : { pull: parent, isExact: false };
}

/**
 * What somebody consented to on the pull request holds for the commit that it became, when that makes the very files
 * of which the plan was shown. It is written down as `espalier approve` does.
 */
export async function carryApproval(parts: SyncParts, key: string, commit: string, pull: PlannedPull): Promise<void> {
  const { approved, head, number } = pull;
  const sync = parts.syncs.get(key);
  if (sync === undefined || approved?.head !== head || approved.shown !== pull.digest) return;
  const before = (sync.metadata.annotations?.[ANNOTATION.approve] ?? '').split(/[\s,]+/).filter((one) => one !== '');
  if (before.includes(commit)) return;
  // Earlier ones may still be needed: what they let go ahead may wait for something else.
  const annotations = { [ANNOTATION.approve]: [...before, commit].slice(-APPROVALS_KEPT).join(' ') };
  const { uid } = sync.metadata;
  const body = { metadata: { ...(uid === undefined ? {} : { uid }), annotations } };
  parts.syncs.put(await parts.client.patch(refOf(sync), body, { type: 'merge', fieldManager: SYNC_MANAGER }));
  parts.events.record({
    regarding: regarding(sync),
    action: 'Approve',
    type: 'Normal',
    reason: 'ApprovalCarried',
    note: `${commit} is what ${approved.by} approved on pull request #${number}`,
  });
}

/** What was done otherwise than the pull request showed; undefined where that can't be told. */
export function differsFromShown(
  parts: SyncParts,
  { commit, pull }: MergedFrom,
  declared: ReadonlySet<string>,
): { pullRequest: number; what: string[] } | undefined {
  // Nothing is on record of a large plan.
  if (pull.shown.length === 0 && pull.plugins.length > 0) return undefined;
  const nested = withNested(pull.plugins, [...parts.plugins.values()]);
  const plugins = new Set([...nested, ...pull.shown.map(({ plugin }) => plugin)]);
  // Plugins that leave are removed by rules of their own, whose steps nobody counts.
  const stays = (key: string) => declared.has(key) || parts.declared.renderedBy(key) !== undefined;
  const shown = pull.shown.filter(({ plugin }) => stays(plugin));
  const done = [...plugins].flatMap((plugin) => parts.carried.at(plugin, commit) ?? []);
  return { pullRequest: pull.number, what: differences(shown, done) };
}
