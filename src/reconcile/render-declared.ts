import { isError, messageOf, type Plugin } from '../api/index.ts';
import { activityIn } from './activity.ts';
import { waitingToDelete } from './dropped.ts';
import { type Facts, factsOf } from './facts.ts';
import type { KnownInputs } from './inputs.ts';
import type { Parts } from './parts.ts';
import { renderKey } from './release-state.ts';
import type { Rendered } from './rendered.ts';
import { keyOf } from './store.ts';

export interface RenderDeclaredInput {
  key: string;
  plugin: Plugin;
  facts: Facts;
  inputs: KnownInputs;
  signal: AbortSignal;
}

/** Renders a Plugin, and lets everybody know what it declares now. */
export async function renderDeclared(parts: Parts, input: RenderDeclaredInput): Promise<Rendered> {
  const { key, facts, inputs } = input;
  const rendered = await render(parts, input);
  const news = parts.declared.setRendered(key, inputs.key, [...rendered.hashes.keys(), ...rendered.undecided.values()]);
  if (news) wakeWhoWaitsForRendering(parts, key, facts);
  return rendered;
}

/** The same, and nobody hears of it. */
export async function render(
  parts: Pick<Parts, 'rendered' | 'render'>,
  { plugin, facts, inputs, signal }: RenderDeclaredInput,
): Promise<Rendered> {
  return await parts.rendered.get(renderKey(plugin, inputs.key), () => parts.render(plugin, facts, inputs, signal));
}

/** Others may wait to hear what this one declares: those whose objects it may take over, and the Sync's removals. */
function wakeWhoWaitsForRendering(parts: Parts, key: string, { sync, parents }: Facts): void {
  if (sync !== undefined) parts.wakeSync(keyOf(sync));
  const [root] = parents.slice(-1);
  // Where a Sync is over them it wakes them itself.
  if (sync === undefined && root !== undefined)
    for (const one of waitingToDelete(root, parts.plugins)) parts.wakePlugin(one);
  for (const waiter of parts.renderWaiters.take(key)) parts.wakePlugin(waiter);
}

/**
 * A suspended Plugin is left as it is, but what it declares must be known all the same: others may let go of just that.
 * Where it can't be rendered nothing is said of it, and removals elsewhere go on waiting.
 */
export async function learnDeclared(parts: Parts, key: string, plugin: Plugin, signal: AbortSignal): Promise<void> {
  if (parts.declared.objectsOf(plugin) !== undefined) return;
  const answer = factsOf(parts, plugin);
  if (!answer.known || activityIn(plugin, answer.facts).state !== 'active') return;
  const { facts } = answer;
  const inputs = parts.inputs(plugin, facts);
  if (inputs.state !== 'known') return;
  try {
    await renderDeclared(parts, { key, plugin, facts, inputs, signal });
  } catch (error) {
    if (signal.aborted || isError(error, 'LeaseLost', 'Aborted')) throw error;
    parts.log.debug({ plugin: key, error: messageOf(error) }, 'a suspended plugin could not be rendered');
  }
}
