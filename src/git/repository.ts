import { resolve as absolute } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isError } from '../api/index.ts';
import type { Backend, PushRequest, RemoteRef } from './backend.ts';
import { type BackendChoice, Backends } from './backends.ts';
import { ByteCache } from './bytecache.ts';
import { type CommitRequest, type Committed, commitOnto } from './commitonto.ts';
import type { Credentials } from './credentials.ts';
import { withDeadline } from './deadline.ts';
import type { ProxySettings } from './dial.ts';
import { asGitError } from './errors.ts';
import { exclusively } from './exclusive.ts';
import { Fetching } from './fetching.ts';
import { gitTree } from './gittree.ts';
import { prepareFolder, readKept } from './layout.ts';
import { DEFAULT_LIMITS, type GitLimits } from './limits.ts';
import { lineageOf } from './lineage.ts';
import { type MaintenanceResult, maintainStore } from './maintenance.ts';
import type { MergeBase } from './mergebase.ts';
import { type Merge, mergeTrees } from './mergetrees.ts';
import type { Commit } from './objects.ts';
import { ObjectStore } from './objectstore.ts';
import { redactor } from './redact.ts';
import { explainMissing, type PickTag, prefixesFor, type RefSpec, type Resolved, selectRef } from './ref.ts';
import type { FileTree } from './tree.ts';
import { parseRepositoryUrl, type UrlPolicy } from './url.ts';

export interface RepositoryOptions {
  url: string;
  /** A folder for this repository alone; it is made a bare repository, and one process at a time may use it. */
  dir: string;
  credentials?: Credentials | undefined;
  /** PEM certificates to trust besides the usual ones. */
  caBundle?: string | undefined;
  /** Lines of known_hosts besides those of the credentials. */
  knownHosts?: string | undefined;
  proxy?: ProxySettings | undefined;
  /** For each operation as a whole. Default two minutes. */
  timeoutMs?: number | undefined;
  limits?: Partial<GitLimits> | undefined;
  allow?: UrlPolicy | undefined;
  backend?: BackendChoice | undefined;
  /** The program `git`; `null` does without one. Default: the one on the PATH. */
  gitPath?: string | null | undefined;
  /** Picks a tag for `semver`; needed only for that. */
  pickTag?: PickTag | undefined;
  signal?: AbortSignal | undefined;
  /** How long after a fetch too many packs are brought down to one. */
  tidyAfterMs?: number | undefined;
  now?: (() => number) | undefined;
  /** Told what went wrong where nobody waits for it: housekeeping. */
  onWarning?: ((error: unknown) => void) | undefined;
}

export interface GitRepository {
  /** Without credentials. */
  readonly url: string;
  /** What the server has now. A cheap poll: one request over https. */
  refs(prefixes?: string[]): Promise<RemoteRef[]>;
  /** Where a ref stands now. GitRefMissing only when the server said, completely, that there is no such ref. */
  resolve(spec: RefSpec): Promise<Resolved>;
  /**
   * Makes sure that a commit is stored with all its files; asks the server only when it is not. Without `keep` it is the one that is
   * followed: the one before it stays, older ones may go. With `keep` it stays by that name, beside it and others, until it is dropped
   * or another is fetched by the name. GitRefMissing when the server does not have that commit (any more): ask where the ref stands, and again.
   */
  fetch(commit: string, ref?: string, options?: { keep?: string | undefined }): Promise<void>;
  /** Names of kept commits, from earlier runs too. */
  kept(): Promise<Map<string, string>>;
  /** Ends the keeping. Names that are not there count as dropped. */
  drop(names: string[]): Promise<void>;
  tree(commit: string): FileTree;
  /** What merging `head` into `base` would make; `ancestor` is their merge base. All three must be stored. */
  merge(base: string, head: string, ancestor: string): Promise<Merge>;
  /** Id of a stored commit's root folder: commits that squash or rebase to the same content have the same. */
  treeId(commit: string): Promise<string>;
  commit(oid: string): Promise<Commit>;
  /** Whether the stored commit `young` descends from `old`; fetches more history where that is needed, up to the limit. */
  isAncestor(old: string, young: string): Promise<'yes' | 'no' | 'unknown'>;
  /** The best common ancestor of two stored commits; fetches more history where that is needed, up to the limit. */
  mergeBase(a: string, b: string): Promise<MergeBase>;
  /** Commits from `young` back to but without `old` by first parents, the newest first; fewer where stored history ends. */
  firstParents(young: string, old: string, limit: number): Promise<Commit[]>;
  /** Makes one commit of a few changed files on top of a branch, and pushes it there or to a new one. Never forces. */
  commitOnto(request: CommitRequest): Promise<Committed>;
  /** Rebuilds the store when it has grown beyond its limits, or at once. `fetch` does so by itself. */
  maintain(options?: { force?: boolean }): Promise<MaintenanceResult>;
  close(): Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 120_000;
const CLEANING_MS = 5_000;
const REFS_BYTES = 200_000;
/** A rollout of some size is over by then. */
const TIDY_AFTER_MS = 5_000;
const EVERYTHING = ['HEAD', 'refs/heads/', 'refs/tags/'];

/** Opens (and the first time makes) the stored copy of a repository. Contacts no server. */
export async function openRepository(options: RepositoryOptions): Promise<GitRepository> {
  const dir = absolute(options.dir);
  const policy = options.allow ?? {};
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const parsed = parseRepositoryUrl(options.url, policy);
  const url = { ...parsed, embedded: undefined };
  const credentials: Credentials =
    options.credentials ??
    (parsed.embedded === undefined ? { kind: 'anonymous' } : { kind: 'basic', ...parsed.embedded });
  const closed = new AbortController();
  const store = new ObjectStore(dir, limits.objectBytes);
  const backends = new Backends({ ...options, dir, url, policy, limits, timeoutMs, credentials, store });
  const refs = new ByteCache<string, string>(REFS_BYTES);
  const fetching = new Fetching({
    dir,
    url: url.href,
    store,
    limits,
    remember: (bytes, ms) => backends.remember(bytes, ms),
  });
  let lastRef: string | undefined;
  let later: NodeJS.Timeout | undefined;

  await exclusively(dir, () => prepareFolder(dir));

  async function run<T>(what: string, step: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await withDeadline(`${what} ${url.href}`, timeoutMs, [options.signal, closed.signal], step);
    } catch (error) {
      throw asGitError(error, url.host, redactor(backends.secrets));
    }
  }

  function runAlone<T>(what: string, step: (backend: Backend, signal: AbortSignal) => Promise<T>): Promise<T> {
    return exclusively(dir, async () => {
      const backend = await backends.forFetch();
      let work: Promise<T> | undefined;
      try {
        return await run(what, (signal) => {
          work = step(backend, signal);
          return work;
        });
      } finally {
        // A step that was given up still has its cleaning to do, and the next one must not meet it.
        await Promise.race([work?.catch(() => undefined), wait(CLEANING_MS, undefined, { ref: false })]);
      }
    });
  }

  async function listRefs(prefixes: string[]): Promise<RemoteRef[]> {
    const backend = await backends.forListing();
    return run('Listing the refs of', (signal) => backend.listRefs(prefixes, signal));
  }

  async function tidy(force: boolean): Promise<MaintenanceResult> {
    return runAlone('Tidying up', (backend, signal) =>
      maintainStore({ dir, store, backend, limits, gitPath: options.gitPath, timeoutMs, signal }, force),
    );
  }

  function tidyInPassing(force: boolean): Promise<unknown> {
    return tidy(force).catch((error: unknown) => options.onWarning?.(error));
  }

  /** Once those who wait for the commit have it; at once where packs pile up, for who opens a store may be gone by then. */
  async function tidySoon(): Promise<void> {
    later ??= setTimeout(() => {
      later = undefined;
      void tidyInPassing(false);
    }, options.tidyAfterMs ?? TIDY_AFTER_MS).unref();
    if (store.packs > 2 * limits.packs) await tidyInPassing(false);
  }

  const lineage = lineageOf({
    store,
    limits,
    deepen: (commit, depth) =>
      runAlone('Fetching history from', async (backend, signal) => {
        await backend.fetch({ commit, ref: refs.get(commit) ?? lastRef, have: commit, depth }, signal);
      }),
  });

  const push = (request: PushRequest): Promise<void> =>
    exclusively(dir, async () => {
      const backend = await backends.forPush();
      await run('Pushing to', (signal) => backend.push(request, signal));
    });

  const repository: GitRepository = {
    url: url.href,
    refs: (prefixes = EVERYTHING) => listRefs(prefixes),
    async resolve(spec) {
      const prefixes = prefixesFor(spec);
      const found = selectRef(spec, prefixes.length === 0 ? [] : await listRefs(prefixes), options.pickTag);
      if (found === undefined) throw explainMissing(spec, await listRefs(EVERYTHING), url.href);
      return found;
    },
    async fetch(commit, ref, { keep } = {}) {
      const wanted = { commit, ref, keep };
      if (ref !== undefined) {
        if (keep === undefined) lastRef = ref;
        refs.set(commit, ref, ref.length + commit.length);
      }
      await store.refresh();
      if (await fetching.holds(wanted)) return;
      try {
        await runAlone('Fetching from', (backend, signal) => fetching.fetch(wanted, backend, signal));
      } catch (error) {
        // What came instead of a proposed commit must not pile up.
        if (keep !== undefined && isError(error, 'GitRefMissing', 'GitTooLarge')) await tidyInPassing(false);
        throw error;
      }
      await tidySoon();
    },
    kept: () => readKept(dir),
    async drop(names) {
      const kept = await readKept(dir);
      if (!names.some((name) => kept.has(name))) return;
      await exclusively(dir, () => fetching.drop(names));
      await tidyInPassing(await backends.hasProgram());
    },
    tree: (commit) => gitTree(store, commit),
    merge: (base, head, ancestor) => mergeTrees(store, { base, head, ancestor }),
    ...lineage,
    commitOnto: (request) => commitOnto({ ...repository, push, now: options.now ?? Date.now }, request),
    maintain: ({ force = false } = {}) => tidy(force),
    async close() {
      clearTimeout(later);
      closed.abort();
      await exclusively(dir, async () => undefined);
      await Promise.all([store.close(), backends.close()]);
    },
  };
  return repository;
}
