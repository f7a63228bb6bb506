import type { Plugin } from '../../api/index.ts';
import type { DeclarationReader } from '../../declare/reader.ts';
import type { PullRequest } from '../../forge/forge.ts';
import type { GitRepository } from '../../git/repository.ts';
import { touchedBetween } from '../../report/trail.ts';
import { contentKey } from '../../resolve/key.ts';
import type { CatalogueFacts } from '../catalogue-facts.ts';
import { type Compiled, compile } from '../compile.ts';
import { type Preview, type PreviewInput, previewRevision } from '../preview.ts';
import { inputsOf } from '../trail.ts';
import { touchedFolders } from './touched-folders.ts';

/** Name under which the store of pull requests keeps what they are planned on top of. */
export const BASE = 'base';
export const keptName = (number: number): string => `pull-${number}`;

export interface PullInput {
  /** Where heads are kept: a store of its own. */
  repository: GitRepository;
  reader: DeclarationReader;
  sync: PreviewInput['sync'];
  plugins: readonly Plugin[];
  catalogue: CatalogueFacts;
  pull: Pick<PullRequest, 'number' | 'head'>;
  /** The commit that is followed, and its ref on the server. */
  base: { commit: string; ref: string | undefined; compiled?: Compiled };
}

/** What the merge would make of the files, before anybody asks the cluster. */
export type MergedPull =
  | { state: 'conflict'; paths: readonly string[] }
  /** Nothing that both sides come from is known here: there is no merge to show. */
  | { state: 'unrelated'; why: string }
  | { state: 'merged'; compiled: Compiled; tree: PreviewInput['tree']; id: string; touched: string[]; inputs: string };

/** Fetches both sides and joins them. Writes nothing but to the store of pull requests. */
export async function mergePull(input: PullInput): Promise<MergedPull> {
  const { repository, reader, sync, plugins, catalogue, pull, base } = input;
  await repository.fetch(base.commit, base.ref, { keep: BASE });
  await repository.fetch(pull.head.commit, pull.head.ref, { keep: keptName(pull.number) });
  const ancestor = await repository.mergeBase(base.commit, pull.head.commit);
  if (ancestor.state !== 'found') {
    const why = ancestor.state === 'none' ? 'has no history in common with the base' : 'left the base too long ago';
    return { state: 'unrelated', why };
  }
  const { tree, id, conflicts } = await repository.merge(base.commit, pull.head.commit, ancestor.commit);
  if (conflicts.length > 0) return { state: 'conflict', paths: conflicts };
  const before =
    base.compiled ?? (await compile({ sync, tree: repository.tree(base.commit), reader, plugins, catalogue }));
  const compiled = await compile({ sync, tree, reader, plugins, catalogue });
  const known = inputsOf(before);
  const inputs = inputsOf(compiled, known);
  const followers = await touchedFolders({ sync, plugins, before: repository.tree(base.commit), after: tree });
  const touched = [...new Set([...touchedBetween(known, inputs), ...followers.keys()])].toSorted();
  const faults = [...compiled.faults, ...compiled.misfits].map(({ file, line, message }) => [file, line ?? 0, message]);
  const touchedInputs = touched.map((key) => [key, inputs.get(key) ?? '']);
  return {
    state: 'merged',
    compiled,
    tree,
    id,
    touched,
    inputs: contentKey({ touched: touchedInputs, faults, folders: [...followers] }),
  };
}

export interface PullPlanInput
  extends Pick<
    PreviewInput,
    'client' | 'plugins' | 'kubernetes' | 'isAgent' | 'ownSource' | 'helm' | 'isUntrusted' | 'signal' | 'onRendered'
  > {
  sync: PreviewInput['sync'];
  merged: Extract<MergedPull, { state: 'merged' }>;
  pull: Pick<PullRequest, 'number' | 'head'>;
  /** Of those that it touches; all when left out. */
  only?: (key: string) => boolean;
}

/** What merging would do to the cluster; how to consent to what is held is said as one does it on the pull request. */
export async function planPull({ merged, pull, only, ...input }: PullPlanInput): Promise<Preview> {
  const { compiled, tree } = merged;
  const touched = new Set(merged.touched);
  const preview = await previewRevision({
    ...input,
    tree,
    compiled,
    touched,
    history: 'forward',
    only: (key) => touched.has(key) && only?.(key) !== false,
  });
  const held = preview.plan.held.map((hold) => ({
    ...hold,
    howToApprove: hold.howToApprove.startsWith('espalier approve')
      ? `comment "/espalier approve ${pull.head.commit.slice(0, 10)}" on this pull request; a new push voids it`
      : hold.howToApprove,
  }));
  return { ...preview, plan: { ...preview.plan, held } };
}
