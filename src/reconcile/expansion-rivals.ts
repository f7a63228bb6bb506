import type { Plugin } from '../api/index.ts';
import { isWanted } from './activity.ts';
import type { FactsParts } from './facts.ts';
import { syncKeyOf } from './nesting.ts';
import { keyOf, type Store } from './store.ts';

/** A whole package, not a step of one. */
export function isExpansion({ spec }: Plugin): boolean {
  return spec.kind === 'expansion' && spec.step === undefined;
}

/**
 * For sorting: what something is installed of comes first, however old the others are, which may have been switched off.
 * Then what is in the cluster for longer; of the same age, by name.
 */
export function byPrecedence(a: Plugin, b: Plugin): number {
  if (hasParts(a) !== hasParts(b)) return hasParts(a) ? -1 : 1;
  const [first, second] = [a, b].map(({ metadata }) => metadata.creationTimestamp ?? '9');
  if (first !== second) return (first ?? '') < (second ?? '') ? -1 : 1;
  return keyOf(a) < keyOf(b) ? -1 : 1;
}

function hasParts({ status }: Plugin): boolean {
  return (status?.inventory ?? []).length > 0;
}

/** It was looked at, as it is declared now, and nothing of it belongs here. */
function isForElsewhere({ metadata, status }: Plugin): boolean {
  const isCurrent = status?.observedGeneration === metadata.generation && status?.revision?.key !== undefined;
  return isCurrent && status.phase === 'Ready' && (status.inventory ?? []).length === 0;
}

export interface RivalParts extends FactsParts {
  plugins: Store<Plugin>;
  declared: { isDropped(sync: string, plugin: string): boolean };
}

/** Why a package can't be installed: one that came before is here. One that is on its way out is none, nor one that is kept elsewhere. */
export function rivalOf(parts: RivalParts, plugin: Plugin): string | undefined {
  if (!isExpansion(plugin)) return undefined;
  const rival = [...parts.plugins.values()].find((other) => {
    if (!isExpansion(other) || keyOf(other) === keyOf(plugin) || byPrecedence(other, plugin) > 0) return false;
    if (other.metadata.deletionTimestamp !== undefined || !isWanted(parts, other) || isForElsewhere(other))
      return false;
    const sync = syncKeyOf(other);
    return sync === undefined || !parts.declared.isDropped(sync, keyOf(other));
  });
  if (rival === undefined) return undefined;
  return `expansion ${keyOf(plugin)} can't be installed beside ${keyOf(rival)}: a cluster takes one at a time; remove one of them`;
}
