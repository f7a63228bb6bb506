import { stat } from 'node:fs/promises';
import { EspalierError, type Sync } from '../api/index.ts';
import { folderTree } from '../git/foldertree.ts';
import { branchIn } from '../git/ref.ts';
import type { GitRepository } from '../git/repository.ts';
import type { FileTree } from '../git/tree.ts';
import { plain } from '../plan/plain.ts';
import { baseOf, type History, historySince } from '../reconcile/history.ts';
import type { CatalogueOptions } from './catalogue.ts';
import { ofCluster, ofTree, together } from './catalogue-read.ts';
import { type Cluster, inCluster } from './cluster.ts';
import type { Catalogue } from './known-catalogue.ts';
import type { ClusterOptions } from './options.ts';
import { withHelm } from './own-charts.ts';
import { say } from './print.ts';
import { withRepository } from './repository.ts';
import { isUrl, refSpec } from './source-tree.ts';
import { findSync, standIn } from './sync-settings.ts';

export interface CatalogueFlags extends ClusterOptions {
  namespace?: string;
  /** Folder or URL; absent: what the cluster has. */
  repository?: string;
  ref?: string;
  path?: string;
  sync?: string;
  kubernetes?: string;
}

/** A repository as it is read here. */
export interface Opened {
  source: string;
  sync: Sync;
  /** A Sync follows this very URL. */
  isFollowed: boolean;
  tree: FileTree;
  history: History;
  /** Absent for a folder. */
  git?: GitRepository;
  /** The branch that was read; absent for folders, tags and commits. */
  branch?: string;
}

export interface Looked {
  cluster: Cluster | undefined;
  /** Of instances for which none is given. */
  namespace: string;
  catalogue: Catalogue;
  repository: Opened | undefined;
}

/** Where the agent and its Sync usually live. */
const USUAL_NAMESPACE = 'espalier-system';

/**
 * Looks at what can be installed and what is: in the cluster, and in the repository where one is given, which then counts
 * for what its Sync wrote. With a repository and a Kubernetes version no cluster is asked, unless `needsCluster`.
 */
export async function withCatalogue<T>(
  flags: CatalogueFlags,
  needsCluster: boolean,
  use: (looked: Looked) => Promise<T>,
): Promise<T> {
  const { repository, kubernetes } = flags;
  if (repository === undefined && flags.ref !== undefined)
    throw wrong('--ref is for --repository: what the cluster has is at no branch');
  if (repository !== undefined && kubernetes !== undefined && !needsCluster)
    return await withHelm(async (_helm, charts) => {
      const live = await ofCluster({ client: undefined, kubernetes, charts });
      const sync = standIn(flags.namespace ?? USUAL_NAMESPACE);
      return await inRepository(flags, repository, { cluster: undefined, live, sync }, use);
    });
  const inside = async (cluster: Cluster, charts: CatalogueOptions['charts']): Promise<T> => {
    const { client, namespace } = cluster;
    const version = kubernetes ?? (await client.version()).gitVersion;
    const live = await ofCluster({ client, kubernetes: version, charts });
    if (repository === undefined) return await use({ cluster, namespace, catalogue: live, repository });
    const [syncNamespace, name] = nameOfSync(flags.sync, namespace);
    const found = await findSync(client, syncNamespace, name, repository);
    if (found === undefined)
      say(`no Sync in namespace ${syncNamespace}: reading the repository without the values, labels and path of one`);
    return await inRepository(flags, repository, { cluster, live, sync: found ?? standIn(syncNamespace) }, use);
  };
  return await inCluster(flags, (cluster) => withHelm((_helm, charts) => inside(cluster, charts)));
}

async function inRepository<T>(
  flags: CatalogueFlags,
  source: string,
  { cluster, live, sync }: { cluster: Cluster | undefined; live: Catalogue; sync: Sync },
  use: (looked: Looked) => Promise<T>,
): Promise<T> {
  if (flags.path !== undefined) sync.spec.repository.path = flags.path;
  const namespace = flags.namespace ?? sync.metadata.namespace ?? USUAL_NAMESPACE;
  const go = async (opened: Omit<Opened, 'source' | 'sync' | 'isFollowed'>): Promise<T> => {
    const isFollowed = sync.spec.repository.url === source;
    const repository = { source, sync, isFollowed, ...opened };
    const declared = await ofTree(opened.tree, sync);
    for (const fault of declared.faults) say(`note: ${plain(fault)}`);
    const catalogue = together(declared, live, sync);
    return await use({ cluster, namespace, catalogue, repository });
  };
  if (!isUrl(source)) {
    if ((await stat(source).catch(() => undefined))?.isDirectory() !== true)
      throw wrong(`--repository: "${source}" is neither a folder nor a Git URL`);
    if (flags.ref !== undefined) throw wrong('--ref is for the URL of a repository: a folder is read as it is');
    return await go({ tree: folderTree(source), history: 'forward' });
  }
  return await withRepository(cluster?.client, sync, source, async (git) => {
    const follow = sync.spec.repository.url === source ? (sync.spec.repository.ref ?? {}) : {};
    const { commit, ref } = await git.resolve(flags.ref === undefined ? follow : refSpec(flags.ref));
    await git.fetch(commit, ref);
    const branch = branchIn(ref);
    const history = await historySince(git, baseOf(sync), commit);
    return await go({ tree: git.tree(commit), history, git, ...(branch === undefined ? {} : { branch }) });
  });
}

/** `platform`, or `team/platform` for one in another namespace. */
function nameOfSync(text: string | undefined, namespace: string): [namespace: string, name: string | undefined] {
  const [first, second] = text?.split('/') ?? [];
  return second === undefined ? [namespace, first] : [first ?? namespace, second];
}

export function wrong(message: string): EspalierError {
  return new EspalierError('InvalidConfiguration', message, { retry: false });
}
