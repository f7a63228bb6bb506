import { EspalierError } from '../api/index.ts';
import type { Backend } from './backend.ts';
import {
  HEAD_REF,
  keptRef,
  listPacks,
  PREVIOUS_REF,
  readKept,
  readRef,
  removePacks,
  removeRef,
  writeRef,
  writeShallow,
} from './layout.ts';
import { describeBytes, type GitLimits } from './limits.ts';
import { parseCommit } from './objects.ts';
import type { ObjectStore } from './objectstore.ts';

export interface Wanted {
  commit: string;
  /** The ref that led to it. */
  ref: string | undefined;
  /** Kept by this name; absent for the commit that is followed. */
  keep: string | undefined;
}

export interface FetchingOptions {
  dir: string;
  url: string;
  store: ObjectStore;
  limits: GitLimits;
  /** Told how a fetch went. */
  remember(bytes: number, ms: number): Promise<void>;
}

/** What is in the store and by which ref, and how it gets in. Nobody else may write to the store meanwhile. */
export class Fetching {
  readonly #options: FetchingOptions;

  constructor(options: FetchingOptions) {
    this.#options = options;
  }

  /** Whether a commit is stored, and by the ref that it is to have: then there is nothing to do. */
  async holds({ commit, keep }: Wanted): Promise<boolean> {
    const { dir, store } = this.#options;
    if (store.damaged || !(await store.has(commit))) return false;
    return (await readRef(dir, keep === undefined ? HEAD_REF : keptRef(keep))) === commit;
  }

  async fetch(wanted: Wanted, backend: Backend, signal: AbortSignal): Promise<void> {
    const { dir, store, limits, remember } = this.#options;
    const { commit, ref, keep } = wanted;
    if (store.damaged) await this.#startAfresh();
    await store.refresh();
    if (!(await store.has(commit))) {
      if (keep !== undefined) await this.#checkRoom();
      const started = performance.now();
      const have = await this.#known(keep);
      const { bytes } = await backend.fetch({ commit, ref, have, depth: limits.depth }, signal);
      await remember(bytes, performance.now() - started);
    }
    await this.#checkFetched(wanted);
    if (keep === undefined) await this.#follow(commit);
    else await writeRef(dir, keptRef(keep), commit);
  }

  /** Forgets kept commits. What they were made of goes when the store is rebuilt; at once when nothing is left to keep. */
  async drop(names: string[]): Promise<void> {
    const { dir, store } = this.#options;
    for (const name of names) await removeRef(dir, keptRef(name));
    const left = (await readRef(dir, HEAD_REF)) !== undefined || (await readKept(dir)).size > 0;
    if (!left && !store.damaged) await this.#startAfresh();
  }

  async #follow(commit: string): Promise<void> {
    const { dir } = this.#options;
    const head = await readRef(dir, HEAD_REF);
    if (head === commit) return;
    if (head !== undefined) await writeRef(dir, PREVIOUS_REF, head);
    await writeRef(dir, HEAD_REF, commit);
  }

  /** A commit to count on, the likeliest to be near: what it is made of is not sent again. */
  async #known(keep: string | undefined): Promise<string | undefined> {
    const { dir, store } = this.#options;
    const kept = await readKept(dir);
    const head = await readRef(dir, HEAD_REF);
    for (const oid of [keep === undefined ? undefined : kept.get(keep), head, ...kept.values()])
      if (oid !== undefined && (await store.has(oid))) return oid;
    return undefined;
  }

  /** What is kept beside the followed commit must not fill the disk. */
  async #checkRoom(): Promise<void> {
    const { dir, limits, url } = this.#options;
    const bytes = (await listPacks(dir)).reduce((sum, pack) => sum + pack.bytes, 0);
    if (bytes <= limits.storeBytes) return;
    throw new EspalierError(
      'GitTooLarge',
      `The commits that are kept of ${url} take ${describeBytes(bytes)}, more than ${describeBytes(limits.storeBytes)}; close pull requests that are no longer needed.`,
    );
  }

  async #checkFetched({ commit, ref, keep }: Wanted): Promise<void> {
    const { store, url } = this.#options;
    const object = await store.read(commit);
    if (object?.type === 'commit') {
      await store.need(parseCommit(commit, object.data).tree);
      return;
    }
    const gone =
      ref !== undefined && keep !== undefined ? `${ref} leads elsewhere by now` : 'the server no longer leads to it';
    const why = object === undefined ? gone : `it is a ${object.type}`;
    throw new EspalierError('GitRefMissing', `${commit} can't be fetched as a commit of ${url}: ${why}.`, {
      data: { commit },
    });
  }

  async #startAfresh(): Promise<void> {
    const { dir, store } = this.#options;
    await writeShallow(dir, new Set());
    for (const ref of [HEAD_REF, PREVIOUS_REF]) await removeRef(dir, ref);
    for (const name of (await readKept(dir)).keys()) await removeRef(dir, keptRef(name));
    await removePacks(
      dir,
      (await listPacks(dir)).map(({ name }) => name),
    );
    await store.reset();
  }
}
