import { API_VERSION, EspalierError, readAs, type Sync } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { createReader } from '../declare/reader.ts';
import type { PullRequest } from '../forge/forge.ts';
import { PROPOSAL_LIMITS } from '../git/limits.ts';
import { branchIn } from '../git/ref.ts';
import { plain } from '../plan/plain.ts';
import type { Plan } from '../plan/whole.ts';
import { isSameSource } from '../reconcile/own-sources.ts';
import { mergedLine } from '../reconcile/pulls/comment.ts';
import { faultPlan, tryMerge } from '../reconcile/pulls/no-merge.ts';
import { withOwnSources } from '../reconcile/pulls/own-sources.ts';
import { planPull } from '../reconcile/pulls/plan-pull.ts';
import { reachOf } from '../reconcile/pulls/reach.ts';
import { catalogueFacts } from './catalogue.ts';
import { withForge } from './forge.ts';
import { withHelm } from './own-charts.ts';
import { agentsOf, mustExist } from './plan-source.ts';
import { withRepository } from './repository.ts';
import { shortCommit } from './standing.ts';
import { findSync } from './sync-settings.ts';

export interface PullFlags {
  sync?: string;
  plugin?: string[];
  fork?: true;
}

export interface PlanPull {
  client: KubeClient;
  namespace: string;
  number: number;
  flags: PullFlags;
  progress(text: string): void;
}

/** Plans a pull request as the agent does for its comment, against the branch as it stands on the server now. */
export async function planPullRequest(input: PlanPull): Promise<{ plan: Plan; footer: string[] }> {
  const { client, namespace, number, flags, progress } = input;
  const sync = await findSync(client, namespace, flags.sync, '');
  if (sync === undefined) {
    const message = `there is no Sync in namespace ${namespace}, so no repository to look for pull requests in: name its namespace with -n`;
    throw new EspalierError('KubeNotFound', message);
  }
  if (sync.spec.suspend)
    progress(`sync/${sync.metadata.name} is suspended: until it is resumed, nothing of this would happen`);
  const { url, ref: follow = {} } = sync.spec.repository;
  const pull = await withForge(client, sync, (forge, signal) => forge.pullRequest(number, signal));
  if (pull === undefined) throw refused(`${plain(url)} has no pull request #${number}`);
  return await withRepository(
    client,
    sync,
    url,
    async (repository) => {
      const { commit, ref } = await repository.resolve(follow);
      refuseOthers(sync, pull, branchIn(ref), flags);
      progress(
        `#${number} "${plain(pull.title)}" by ${plain(pull.author)}: ${shortCommit(pull.head.commit)} merged into ${plain(pull.base)} at ${shortCommit(commit)}`,
      );
      const footer = [mergedLine({ head: pull.head.commit, base: commit }, '')];
      const { items } = await client.list({ apiVersion: API_VERSION, kind: 'Plugin' });
      const plugins = items.map((item) => readAs(item, 'Plugin'));
      const base = { commit, ref };
      const { gitVersion: kubernetes } = await client.version();
      const merged = await withHelm(async (_helm, charts) => {
        const catalogue = await catalogueFacts({
          client,
          kubernetes,
          charts: pull.fromFork ? () => undefined : charts,
        });
        return await tryMerge({ repository, reader: createReader(), sync, plugins, catalogue, pull, base });
      });
      if (merged.state !== 'merged') return { plan: faultPlan(sync, pull, merged), footer };
      const names = flags.plugin === undefined ? undefined : new Set(flags.plugin);
      if (names !== undefined) mustExist(names, merged.compiled, sync);
      const { plan } = await withReach(client, sync, pull, (reach) =>
        planPull({
          ...{ client, sync, merged, pull, plugins, kubernetes, isAgent: agentsOf(namespace) },
          ...reach,
          ...(names === undefined ? {} : { only: (key: string) => names.has(key.slice(key.indexOf('/') + 1)) }),
        }),
      );
      return { plan, footer };
    },
    { limits: PROPOSAL_LIMITS },
  );
}

/** What only looks like a plan: of the merge of these the agent would never do anything. */
function refuseOthers(sync: Sync, pull: PullRequest, branch: string | undefined, { fork }: PullFlags): void {
  const { number, state, base, fromFork } = pull;
  const name = `sync/${sync.metadata.name}`;
  if (state !== 'open') throw refused(`pull request #${number} is ${state} already: there is nothing left to plan`);
  if (branch === undefined) throw refused(`${name} follows no branch, so no pull request changes what it applies`);
  if (base !== branch) {
    const into = `is to be merged into ${plain(base)}, but ${name} follows ${plain(branch)}`;
    throw refused(`pull request #${number} ${into}: merging it would change nothing in this cluster`);
  }
  if (fromFork && fork !== true) {
    const whose = `pull request #${number} comes from another repository, of ${plain(pull.author)}`;
    throw refused(`${whose}: planning it renders what they wrote on this machine. Read it, then add --fork`);
  }
}

function refused(message: string): EspalierError {
  return new EspalierError('CommandRefused', message);
}

/** What is in force is what the cluster has on record: this command has read nothing before. */
async function withReach<T>(
  client: KubeClient,
  sync: Sync,
  { fromFork }: PullRequest,
  use: (reach: ReturnType<typeof reachOf>) => Promise<T>,
): Promise<T> {
  return await withOwnSources(client, (find) =>
    withHelm(({ view, chartsFor }) => {
      const means = { client, view, chartsFor, find };
      return use(
        reachOf(
          {
            ...means,
            inForce: async (plugin, live) => (isSameSource(plugin, live) ? await find(plugin, live) : undefined),
          },
          sync,
          fromFork,
        ),
      );
    }),
  );
}
