import { EspalierError, isError, LABEL, type Plugin, type Sync } from '../api/index.ts';
import type { GitRepository } from '../git/repository.ts';
import type { FileTree } from '../git/tree.ts';
import type { Clock } from '../runtime/clock.ts';
import { nextRun } from '../runtime/cron.ts';
import { folderId, followsRepository } from './folders.ts';
import { RecentTrees } from './recent-trees.ts';
import type { Sources } from './sources.ts';
import { keyOf } from './store.ts';

const UNSEEN_RETRY_MS = 1_000;

interface Seen {
  /** What was asked for: another URL or ref is another question. */
  question: string;
  commit: string;
  /** Git id of the path at that commit. */
  tree: string;
  /** The Sync's commit at which that was found, where it is another. */
  head?: string;
  nextLook: number;
}

export interface OwnSourcesOptions {
  sources: Sources;
  clock: Clock;
  /** Whose repository a Plugin's folder is in that names none. */
  syncOf(plugin: Plugin): Sync | undefined;
  /** The commit at which such a folder counts now; undefined while that may be about to change, and what was seen last holds. */
  headFor(plugin: Plugin): string | undefined;
}

/**
 * Plugins that look for their files themselves: where the ref of a repository of their own stands, by their own schedule,
 * or what a folder of their Sync's repository holds at the commit that is in force.
 */
export class OwnSources {
  readonly #options: OwnSourcesOptions;
  readonly #trees: RecentTrees;
  readonly #seen = new Map<string, Seen>();

  constructor(options: OwnSourcesOptions) {
    this.#options = options;
    this.#trees = new RecentTrees(options.clock);
  }

  /** What is known without asking; undefined before the first look at this URL, ref and path, or commit. */
  known(plugin: Plugin): { commit: string; tree: string } | undefined {
    const seen = this.#last(plugin);
    const head = followsRepository(plugin) ? this.#options.headFor(plugin) : undefined;
    return head === undefined || head === (seen?.head ?? seen?.commit) ? seen : undefined;
  }

  /** Looks where that is due or asked for, and says in how many milliseconds it is due again. */
  async look(plugin: Plugin, isAsked = false): Promise<number> {
    if (followsRepository(plugin)) return await this.#follow(plugin);
    const { clock } = this.#options;
    const seen = this.#last(plugin);
    const now = clock.now();
    if (!isAsked && seen !== undefined && seen.nextLook > now) return seen.nextLook - now;
    const repository = await this.#open(plugin);
    const { commit, ref } = await repository.resolve(plugin.spec.source.git?.ref ?? {});
    await repository.fetch(commit, ref);
    const nextLook = nextRun(plugin.spec.poll, now);
    const tree = repository.tree(commit);
    await this.#note(plugin, await tree.id(plugin.spec.source.git?.path ?? '.'), { commit, nextLook }, repository);
    return nextLook - now;
  }

  async tree(plugin: Plugin): Promise<FileTree> {
    const known = this.known(plugin);
    if (known === undefined) throw new EspalierError('SourceMissing', 'its repository was not read yet');
    return await this.#trees.at(await this.#open(plugin), known.commit);
  }

  forget(key: string): void {
    this.#seen.delete(key);
  }

  /** At every commit of the Sync, and of what the Plugin is nested in: its news wake the Plugin. */
  async #follow(plugin: Plugin): Promise<number> {
    const sync = this.#options.syncOf(plugin);
    // Its credentials are on their way: that is no failure.
    if (sync !== undefined && (await this.#options.sources.forSync(sync)).state === 'unseen') return UNSEEN_RETRY_MS;
    const repository = await this.#open(plugin);
    const commit = this.#options.headFor(plugin);
    if (commit !== undefined && this.known(plugin) === undefined) {
      const nextLook = Number.POSITIVE_INFINITY;
      const tree = await this.#trees.at(repository, commit);
      const made = await this.#madeFrom(plugin, tree, repository);
      if (made === undefined) await this.#note(plugin, await folderId(tree, plugin), { commit, nextLook }, repository);
      else await this.#note(plugin, made.id, { commit: made.commit, head: commit, nextLook }, repository);
    }
    return Number.POSITIVE_INFINITY;
  }

  /**
   * What an instance of an extension was made from, where the repository has something else by now, or nothing: it stays at
   * its version though the catalogue moves on. Undefined where that can't be had any more.
   */
  async #madeFrom(
    plugin: Plugin,
    now: FileTree,
    repository: GitRepository,
  ): Promise<{ commit: string; id: string } | undefined> {
    const { path = '.', tree, commit } = plugin.spec.source.git ?? {};
    const isInstance = plugin.metadata.labels?.[LABEL.instance] !== undefined;
    if (!isInstance || tree === undefined || commit === undefined || (await now.id(path)) === tree) return undefined;
    try {
      const then = await this.#trees.at(repository, commit);
      const id = (await then.id(path)) === tree ? await folderId(then, plugin) : undefined;
      return id === undefined ? undefined : { commit, id };
    } catch (error) {
      if (isError(error, 'GitRefMissing')) return undefined;
      throw error;
    }
  }

  async #note(
    plugin: Plugin,
    tree: string | undefined,
    at: Pick<Seen, 'commit' | 'head' | 'nextLook'>,
    { url }: Pick<GitRepository, 'url'>,
  ): Promise<void> {
    const path = plugin.spec.source.git?.path ?? '.';
    if (tree === undefined) {
      const message = `source.git.path "${path}" does not exist at ${at.commit.slice(0, 10)} of ${url}`;
      throw new EspalierError('SourceMissing', message);
    }
    this.#seen.set(keyOf(plugin), { question: questionOf(plugin), tree, ...at });
  }

  #last(plugin: Plugin): Seen | undefined {
    const seen = this.#seen.get(keyOf(plugin));
    return seen?.question === questionOf(plugin) ? seen : undefined;
  }

  async #open(plugin: Plugin): Promise<GitRepository> {
    const { sources, syncOf } = this.#options;
    const follows = followsRepository(plugin);
    const sync = follows ? syncOf(plugin) : undefined;
    if (follows && sync === undefined) {
      const message =
        'source.git without url is a folder of the repository of a Sync, and no Sync wrote this Plugin; set source.git.url';
      throw new EspalierError('SourceMissing', message, { retry: false });
    }
    const answer = sync === undefined ? await sources.forPlugin(plugin) : await sources.forSync(sync);
    if (answer.state !== 'open') {
      const what = plugin.spec.source.git?.url ?? 'the repository of its Sync';
      throw new EspalierError('GitAuthFailed', `cannot open ${what}: it needs ${answer.why}`);
    }
    return answer.source.repository;
  }
}

export function hasOwnSource(plugin: Plugin): boolean {
  return plugin.spec.source.git?.url !== undefined || followsRepository(plugin);
}

/** Whether both ask for the same files. */
export function isSameSource(a: Plugin, b: Plugin): boolean {
  return questionOf(a) === questionOf(b);
}

function questionOf(plugin: Plugin): string {
  const { git } = plugin.spec.source;
  return JSON.stringify([git?.url, git?.ref, git?.path, git?.secretRef]);
}
