import { rm } from 'node:fs/promises';
import { resolve as absolute, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { EspalierError, isError } from '../api/index.ts';
import type { Backend, RemoteRef } from './backend.ts';
import { type BackendChoice, Backends } from './backends.ts';
import type { Credentials } from './credentials.ts';
import { withDeadline } from './deadline.ts';
import type { ProxySettings } from './dial.ts';
import { asGitError } from './errors.ts';
import { exclusively } from './exclusive.ts';
import { gitTree } from './gittree.ts';
import { descends } from './history.ts';
import {
  HEAD_REF,
  listPacks,
  PREVIOUS_REF,
  prepareFolder,
  readRef,
  removePacks,
  writeRef,
  writeShallow,
} from './layout.ts';
import { DEFAULT_LIMITS, type GitLimits } from './limits.ts';
import { type MaintenanceResult, maintainStore } from './maintenance.ts';
import { type Commit, parseCommit } from './objects.ts';
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
  /** Makes sure that a commit is stored with all its files; asks the server only when it is not. */
  fetch(commit: string, ref?: string): Promise<void>;
  tree(commit: string): FileTree;
  commit(oid: string): Promise<Commit>;
  /** Whether the stored commit `young` descends from `old`; fetches more history where that is needed, up to the limit. */
  isAncestor(old: string, young: string): Promise<'yes' | 'no' | 'unknown'>;
  /** Rebuilds the store when it has grown beyond its limits, or at once. `fetch` does so by itself. */
  maintain(options?: { force?: boolean }): Promise<MaintenanceResult>;
  close(): Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 120_000;
const CLEANING_MS = 5_000;
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
  let lastRef: string | undefined;

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

  async function fetchMissing(
    commit: string,
    ref: string | undefined,
    backend: Backend,
    signal: AbortSignal,
  ): Promise<void> {
    if (store.damaged) await startAfresh();
    await store.refresh();
    const head = await readRef(dir, HEAD_REF);
    if (!(await store.has(commit))) {
      const started = performance.now();
      const { bytes } = await backend.fetch({ commit, ref, have: await storedHead(), depth: limits.depth }, signal);
      await backends.remember(bytes, performance.now() - started);
      await checkFetched(commit);
    }
    if (head === commit) return;
    if (head !== undefined) await writeRef(dir, PREVIOUS_REF, head);
    await writeRef(dir, HEAD_REF, commit);
  }

  /** A commit to count on: what it is made of is not sent again. */
  async function storedHead(): Promise<string | undefined> {
    const head = await readRef(dir, HEAD_REF);
    return head !== undefined && (await store.has(head)) ? head : undefined;
  }

  async function checkFetched(commit: string): Promise<void> {
    const object = await store.read(commit);
    if (object?.type === 'commit') {
      await store.need(parseCommit(commit, object.data).tree);
      return;
    }
    const why = object === undefined ? 'the server no longer leads to it' : `it is a ${object.type}`;
    throw new EspalierError('GitRefMissing', `${commit} can't be fetched as a commit of ${url.href}: ${why}.`, {
      data: { commit },
    });
  }

  async function startAfresh(): Promise<void> {
    await writeShallow(dir, new Set());
    for (const ref of [HEAD_REF, PREVIOUS_REF]) await rm(join(dir, ref), { force: true });
    await removePacks(
      dir,
      (await listPacks(dir)).map(({ name }) => name),
    );
    await store.reset();
  }

  function maintainWith(backend: Backend, signal: AbortSignal, force: boolean): Promise<MaintenanceResult> {
    return maintainStore({ dir, store, backend, limits, gitPath: options.gitPath, timeoutMs, signal }, force);
  }

  async function readCommit(oid: string): Promise<Commit> {
    const object = await store.read(oid);
    if (object?.type === 'commit') return parseCommit(oid, object.data);
    throw new EspalierError('GitNotFound', `Commit ${oid} is not stored here; fetch it first.`, {
      data: { commit: oid },
    });
  }

  async function parentsOf(oid: string): Promise<string[] | undefined> {
    const object = await store.read(oid);
    return object?.type === 'commit' ? parseCommit(oid, object.data).parents : undefined;
  }

  return {
    url: url.href,
    refs: (prefixes = EVERYTHING) => listRefs(prefixes),
    async resolve(spec) {
      const prefixes = prefixesFor(spec);
      const found = selectRef(spec, prefixes.length === 0 ? [] : await listRefs(prefixes), options.pickTag);
      if (found === undefined) throw explainMissing(spec, await listRefs(EVERYTHING), url.href);
      return found;
    },
    async fetch(commit, ref) {
      lastRef = ref ?? lastRef;
      await store.refresh();
      if (!store.damaged && (await store.has(commit)) && (await readRef(dir, HEAD_REF)) === commit) return;
      await runAlone('Fetching from', (backend, signal) => fetchMissing(commit, ref, backend, signal));
      await runAlone('Tidying up', (backend, signal) => maintainWith(backend, signal, false)).catch((error: unknown) =>
        options.onWarning?.(error),
      );
    },
    tree: (commit) => gitTree(store, commit),
    commit: readCommit,
    async isAncestor(old, young) {
      await readCommit(young);
      const walk = (): Promise<'yes' | 'no' | 'open'> => descends(parentsOf, old, young, limits.history * 2);
      let answer = await walk();
      for (const depth of [limits.depth * 10, limits.history]) {
        if (answer !== 'open') return answer;
        try {
          const have = await storedHead();
          await runAlone('Fetching history from', (backend, signal) =>
            backend.fetch({ commit: young, ref: lastRef, have, depth }, signal),
          );
        } catch (error) {
          if (isError(error, 'GitRefMissing', 'GitTooLarge')) return 'unknown';
          throw error;
        }
        answer = await walk();
      }
      return answer === 'open' ? 'unknown' : answer;
    },
    maintain: ({ force = false } = {}) =>
      runAlone('Tidying up', (backend, signal) => maintainWith(backend, signal, force)),
    async close() {
      closed.abort();
      await exclusively(dir, async () => undefined);
      await Promise.all([store.close(), backends.close()]);
    },
  };
}
