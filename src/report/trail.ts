import { shorten } from '../api/one-line.ts';
import { counted } from './line.ts';
import { type PluginState, pluginsVerdict, type Verdict } from './verdict.ts';

/** A commit and the Plugins that it was the last to touch. The newest first. */
export interface Step {
  commit: string;
  plugins: readonly string[];
}

/** Hash of what each Plugin (`namespace/name`) is made of. */
export type Inputs = ReadonlyMap<string, string>;

/** Plugins that are declared otherwise than before: new, changed, gone. */
export function touchedBetween(before: Inputs, after: Inputs): string[] {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].filter((key) => before.get(key) !== after.get(key)).toSorted();
}

/** The trail with new commits on top, oldest of them first. A Plugin belongs to the last commit that touched it. */
export function extendTrail(trail: readonly Step[], added: readonly Step[], longest: number): Step[] {
  return added
    .reduce<Step[]>(
      (steps, step) => {
        const touched = new Set(step.plugins);
        const older = steps.map(({ commit, plugins }) => ({
          commit,
          plugins: plugins.filter((key) => !touched.has(key)),
        }));
        return [
          { commit: step.commit, plugins: [...step.plugins] },
          ...older.filter(({ commit }) => commit !== step.commit),
        ];
      },
      [...trail],
    )
    .slice(0, longest);
}

/**
 * What is said of a commit that is not the head any more: how the Plugins do that no later commit touched. Where there
 * are none, it shares the fate of the head.
 */
export function pastVerdict(plugins: readonly PluginState[], head: Step, headVerdict: Verdict): Verdict {
  if (plugins.length === 0) {
    const { state, description } = headVerdict;
    return { state, description: shorten(`superseded by ${head.commit.slice(0, 10)}: ${description}`) };
  }
  const verdict = pluginsVerdict(plugins);
  if (verdict.state !== 'success') return verdict;
  const names = plugins.map(({ name }) => name);
  return { state: 'success', description: shorten(`${counted(names.length, 'plugin')} ready: ${names.join(', ')}`) };
}
