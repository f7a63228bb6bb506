import type { Plugin } from '../api/index.ts';
import { type FactsParts, factsOf } from './facts.ts';
import type { Parts } from './parts.ts';

/** The content key that a Plugin should have reached by now; undefined while an input of it is not known. */
export function currentKey(parts: FactsParts & Pick<Parts, 'inputs'>, plugin: Plugin): string | undefined {
  const answer = factsOf(parts, plugin);
  if (!answer.known) return undefined;
  const inputs = parts.inputs(plugin, answer.facts);
  return inputs.state === 'known' ? inputs.key : undefined;
}
