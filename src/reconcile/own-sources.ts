import { EspalierError, type Plugin } from '../api/index.ts';
import type { FileTree } from '../git/tree.ts';
import type { Clock } from '../runtime/clock.ts';
import { nextRun } from '../runtime/cron.ts';
import type { Sources } from './sources.ts';
import { keyOf } from './store.ts';

interface Seen {
  /** What was asked for: another URL or ref is another question. */
  question: string;
  commit: string;
  /** Git id of the path at that commit. */
  tree: string;
  nextLook: number;
}

/** Plugins that name a repository of their own: where its ref stands, looked up by the Plugin's own schedule. */
export class OwnSources {
  readonly #sources: Sources;
  readonly #clock: Clock;
  readonly #seen = new Map<string, Seen>();

  constructor(sources: Sources, clock: Clock) {
    this.#sources = sources;
    this.#clock = clock;
  }

  /** What is known without asking; undefined before the first look at this URL, ref and path. */
  known(plugin: Plugin): { commit: string; tree: string } | undefined {
    const seen = this.#seen.get(keyOf(plugin));
    return seen?.question === questionOf(plugin) ? seen : undefined;
  }

  /** Looks where that is due or asked for, and says in how many milliseconds it is due again. */
  async look(plugin: Plugin, isAsked = false): Promise<number> {
    const seen = this.known(plugin) as Seen | undefined;
    const now = this.#clock.now();
    if (!isAsked && seen !== undefined && seen.nextLook > now) return seen.nextLook - now;
    const repository = await this.#open(plugin);
    const { git } = plugin.spec.source;
    const { commit, ref } = await repository.resolve(git?.ref ?? {});
    await repository.fetch(commit, ref);
    const path = git?.path ?? '.';
    const tree = await repository.tree(commit).id(path);
    if (tree === undefined)
      throw new EspalierError(
        'SourceMissing',
        `source.git.path "${path}" does not exist at ${commit.slice(0, 10)} of ${repository.url}`,
      );
    const nextLook = nextRun(plugin.spec.poll, now);
    this.#seen.set(keyOf(plugin), { question: questionOf(plugin), commit, tree, nextLook });
    return nextLook - now;
  }

  async tree(plugin: Plugin): Promise<FileTree> {
    const known = this.known(plugin);
    if (known === undefined) throw new EspalierError('SourceMissing', 'its repository was not read yet');
    const repository = await this.#open(plugin);
    await repository.fetch(known.commit);
    return repository.tree(known.commit);
  }

  forget(key: string): void {
    this.#seen.delete(key);
  }

  async #open(plugin: Plugin) {
    const answer = await this.#sources.forPlugin(plugin);
    if (answer.state !== 'open')
      throw new EspalierError('GitAuthFailed', `cannot open ${plugin.spec.source.git?.url}: it needs ${answer.why}`);
    return answer.source.repository;
  }
}

export function hasOwnSource(plugin: Plugin): boolean {
  return plugin.spec.source.git?.url !== undefined;
}

/** Whether both ask for the same files. */
export function isSameSource(a: Plugin, b: Plugin): boolean {
  return questionOf(a) === questionOf(b);
}

function questionOf(plugin: Plugin): string {
  const { git } = plugin.spec.source;
  return JSON.stringify([git?.url, git?.ref, git?.path, git?.secretRef]);
}
