import type { Contexts } from './contexts.ts';
import { type Drifted, driftVerdicts } from './drift.ts';
import { pastVerdict, type Step } from './trail.ts';
import { type HeadFacts, headVerdict, type PluginState, pluginVerdict, type Verdict } from './verdict.ts';

export interface ToSay {
  commit: string;
  context: string;
  /** In the order in which they are to be said; nearly always one. */
  verdicts: readonly Verdict[];
  /** Time can't change it, only another commit. */
  isSure: boolean;
}

export interface SayInput {
  contexts: Contexts;
  facts: HeadFacts;
  /** The head first. */
  trail: readonly Step[];
  pluginStatuses: boolean;
  drifted: readonly Drifted[];
  repaired: readonly Drifted[];
  /** What a commit was told under a context. */
  said(commit: string, context: string): Verdict | undefined;
}

/** Everything that the forge should know now, whether or not it has been told. */
export function whatToSay({ contexts, facts, trail, pluginStatuses, drifted, repaired, said }: SayInput): ToSay[] {
  const [head, ...past] = trail;
  if (head === undefined) return [];
  const verdict = headVerdict(facts);
  const isSure = facts.trouble === undefined && facts.faults.length > 0;
  const all: ToSay[] = [{ commit: head.commit, context: contexts.all, verdicts: [verdict], isSure }];
  const states = new Map(facts.plugins.map((plugin) => [plugin.key, plugin]));
  for (const step of past) {
    const before = said(step.commit, contexts.all);
    // What became of it while it was the head is what became of it.
    if (before !== undefined && before.state !== 'pending') continue;
    const next = pastVerdict(statesOf(step, states, facts), head, verdict);
    all.push({ commit: step.commit, context: contexts.all, verdicts: [next], isSure: false });
  }
  const drift = driftVerdicts(drifted, repaired, said(head.commit, contexts.drift), verdict.state === 'success');
  // Drift is a fact, not a failure that may go away by itself: told at once.
  if (drift.length > 0) all.push({ commit: head.commit, context: contexts.drift, verdicts: drift, isSure: true });
  // Last: there may be more of them than the forge takes in a minute.
  if (pluginStatuses) all.push(...trail.flatMap((step) => pluginsToSay(step, states, facts, contexts)));
  return all;
}

function pluginsToSay(
  step: Step,
  states: ReadonlyMap<string, PluginState>,
  facts: HeadFacts,
  { plugin: contextOf }: Contexts,
): ToSay[] {
  return statesOf(step, states, facts).map((state) => ({
    commit: step.commit,
    context: contextOf(state.key),
    verdicts: [pluginVerdict(state)],
    isSure: false,
  }));
}

/** Until the head is written, what the cluster says is about what was declared before. */
function statesOf(step: Step, states: ReadonlyMap<string, PluginState>, { written }: HeadFacts): PluginState[] {
  return step.plugins.map((key) => {
    const state = states.get(key);
    const name = state?.name ?? key.slice(key.indexOf('/') + 1);
    if (!written) return { key, name, state: 'waiting', why: 'applying' };
    return state ?? { key, name, state: 'gone', why: 'removed' };
  });
}
