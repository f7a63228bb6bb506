import { ANNOTATION, type Answer, type Plugin, type Sync } from '../api/index.ts';
import type { DeclarationReader } from '../declare/reader.ts';
import type { GitRepository } from '../git/repository.ts';
import { extendTrail, type Inputs, type Step, touchedBetween } from '../report/trail.ts';
import type { CatalogueFacts } from './catalogue-facts.ts';
import { type Compiled, compile } from './compile.ts';
import { syncKeyOf } from './nesting.ts';
import { keyOf } from './store.ts';

/** Commits that are answered one by one, at most; older ones of one push are not. */
export const LONGEST_TRAIL = 20;

export interface TrailInput {
  repository: Pick<GitRepository, 'firstParents' | 'isAncestor' | 'tree'>;
  reader: DeclarationReader;
  sync: Sync;
  plugins: readonly Plugin[];
  catalogue: CatalogueFacts;
  /** What was in force before. */
  before: { commit: string; inputs: Inputs } | undefined;
  compiled: Compiled;
}

export function trailOnRecord(answers: readonly Answer[]): Step[] {
  return answers.map(({ commit, plugins = [] }) => ({ commit, plugins }));
}

/** The trail up to the compiled commit: who pushes three commits at once gets three answers. */
export async function trailTo(trail: readonly Step[], input: TrailInput): Promise<Step[]> {
  const { before, compiled } = input;
  if (before?.commit === compiled.commit) return [...trail];
  if (before === undefined) return [{ commit: compiled.commit, plugins: [...compiled.plugins].toSorted() }];
  const added: Step[] = [];
  let last = before.inputs;
  for (const commit of await commitsBetween(input, before.commit)) {
    const { repository, reader, sync, plugins, catalogue } = input;
    const at =
      commit === compiled.commit
        ? compiled
        : await compile({ sync, tree: repository.tree(commit), reader, plugins, catalogue });
    const inputs = inputsOf(at, last);
    added.push({ commit, plugins: touchedBetween(last, inputs) });
    last = inputs;
  }
  return extendTrail(trail, added, LONGEST_TRAIL);
}

/** What each Plugin of a revision is made of. What can't be read counts as it was. */
export function inputsOf(compiled: Compiled, before: Inputs = new Map()): Inputs {
  const inputs = new Map<string, string>();
  for (const key of compiled.plugins) {
    const known = before.get(key);
    if (known !== undefined) inputs.set(key, known);
  }
  for (const { object, inputs: hash } of compiled.levels.flat())
    if (object.kind === 'Plugin') inputs.set(keyOf(object), hash);
  return inputs;
}

/** The same, of what the Sync has written to the cluster. */
export function writtenInputs(sync: string, plugins: Iterable<Plugin>): Inputs {
  const inputs = new Map<string, string>();
  for (const plugin of plugins) {
    const hash = plugin.metadata.annotations?.[ANNOTATION.inputs];
    if (syncKeyOf(plugin) === sync && hash !== undefined) inputs.set(keyOf(plugin), hash);
  }
  return inputs;
}

/** From the oldest to the head itself; the head alone where history was rewritten or is not known. */
async function commitsBetween({ repository, compiled }: TrailInput, before: string): Promise<string[]> {
  const head = compiled.commit;
  if ((await repository.isAncestor(before, head)) !== 'yes') return [head];
  const commits = await repository.firstParents(head, before, LONGEST_TRAIL);
  return commits.map(({ oid }) => oid).toReversed();
}
