import { shorten } from '../api/one-line.ts';
import { counted, someOf } from './line.ts';

/** How a Plugin stands to what its commit declares. */
export interface PluginState {
  /** `namespace/name` */
  key: string;
  name: string;
  state: 'ready' | 'waiting' | 'failed' | 'held' | 'gone';
  why: string;
  /** Held for a reason that no approval lifts, only another commit. */
  needsCommit?: boolean;
}

export interface Verdict {
  state: 'pending' | 'success' | 'failure' | 'error';
  description: string;
}

export interface HeadFacts {
  /** The commit could not be read or compiled at all. */
  trouble?: string;
  /** Everything that it declares is written to the cluster. */
  written: boolean;
  /** Declarations that can't be used, as `file:line:column: what is wrong`. */
  faults: readonly string[];
  /** Removals of whole Plugins that wait for a person. */
  held?: string;
  /** Why the Sync is not done although all Plugins are: removals that are under way. */
  busy?: string;
  plugins: readonly PluginState[];
  /** What differs from the plan that the pull request showed. */
  differs?: { pullRequest: number; what: readonly string[] };
}

/** What is said of the commit that is in force. Success only when all of it is there and healthy. */
export function headVerdict(facts: HeadFacts): Verdict {
  if (facts.trouble !== undefined) return say('error', facts.trouble);
  if (facts.faults.length > 0) {
    const more = facts.faults.length > 1 ? ` (and ${facts.faults.length - 1} more)` : '';
    return say('failure', `${facts.faults[0]}${more}`);
  }
  if (!facts.written) return say('pending', 'applying');
  if (facts.held !== undefined) return say('pending', `held: ${facts.held}`);
  const verdict = pluginsVerdict(facts.plugins);
  if (verdict.state !== 'success') return verdict;
  if (facts.busy !== undefined) return say('pending', facts.busy);
  const { differs } = facts;
  if (differs === undefined || differs.what.length === 0) return verdict;
  return say(
    'success',
    `${verdict.description}; differs from the plan of #${differs.pullRequest}: ${someOf(differs.what, 3)}`,
  );
}

/** `12 plugins ready, 1 waiting: cert-manager`. A failure names only what failed, so that the others' progress is no news. */
export function pluginsVerdict(plugins: readonly PluginState[]): Verdict {
  const of = (state: PluginState['state']) => plugins.filter((plugin) => plugin.state === state);
  const [ready, waiting, failed, held] = [of('ready'), of('waiting'), of('failed'), of('held')];
  const stuck = held.filter(({ needsCommit }) => needsCommit === true);
  if (failed.length + stuck.length > 0) return say('failure', namedFailures([...failed, ...stuck]));
  const parts = [`${counted(ready.length, 'plugin')} ready`];
  if (waiting.length > 0) parts.push(`${waiting.length} waiting: ${namesOf(waiting)}`);
  if (held.length > 0) parts.push(`${held.length} held: ${namesOf(held)}`);
  return say(waiting.length + held.length > 0 ? 'pending' : 'success', parts.join(', '));
}

/** What is said in the status of one Plugin. */
export function pluginVerdict({ state, why, needsCommit }: PluginState): Verdict {
  switch (state) {
    case 'ready':
      return say('success', 'ready');
    case 'gone':
      return say('success', 'removed');
    case 'waiting':
      return say('pending', why);
    case 'held':
      return say(needsCommit === true ? 'failure' : 'pending', why);
    case 'failed':
      return say('failure', why);
  }
}

function namedFailures(plugins: readonly PluginState[]): string {
  const [first] = plugins;
  if (plugins.length === 1 && first !== undefined) return `1 plugin failed: ${first.name} (${first.why})`;
  return `${counted(plugins.length, 'plugin')} failed: ${namesOf(plugins)}`;
}

function namesOf(plugins: readonly PluginState[]): string {
  return someOf(plugins.map(({ name }) => name));
}

function say(state: Verdict['state'], description: string): Verdict {
  return { state, description: shorten(description) };
}
