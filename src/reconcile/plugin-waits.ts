import { type Plugin, refKey } from '../api/index.ts';
import { circleThrough } from './circle.ts';
import { currentKey } from './current-key.ts';
import { isExpansion } from './expansion-rivals.ts';
import { followsRepository } from './folders.ts';
import { parentKeyOf, pluginKeysIn } from './nesting.ts';
import type { Parts } from './parts.ts';
import { readinessOf } from './readiness.ts';
import { keyOf } from './store.ts';
import { type Waits, waitsOf } from './waits.ts';

/** What a change of the Plugin has to wait for now. */
export function waitsFor(parts: Parts, plugin: Plugin): Waits {
  const waits = waitsOf({
    plugin,
    now: parts.clock.now(),
    outside: (ref) => parts.outside.get(ref),
    selected: (selection) => parts.selections.whyNot(keyOf(plugin), selection),
    pluginReadiness: (key) => {
      const other = parts.plugins.get(key);
      return readinessOf(other, other === undefined ? undefined : keyForOthers(parts, other));
    },
  });
  const unwritten = unwrittenParent(parts, plugin);
  if (unwritten !== undefined) waits.for.unshift(unwritten);
  if (waits.for.length === 0 || waits.reason !== 'DependencyNotReady') return waits;
  const circle = circleThrough(keyOf(plugin), {
    plugin: (key) => parts.plugins.get(key),
    children: (key) => pluginKeysIn((parts.plugins.get(key)?.status?.inventory ?? []).map(refKey)),
  });
  return circle === undefined ? waits : { ...waits, circle };
}

/** Until a folder of the Sync's repository is looked up at a new commit, what was reached before says nothing. */
function keyForOthers(parts: Parts, plugin: Plugin): string | undefined {
  return currentKey(parts, plugin) ?? (followsRepository(plugin) ? '' : undefined);
}

/** Of a new version of a package nothing begins before all its parts are written, or one would pass by the hook that it needs. */
function unwrittenParent(parts: Parts, plugin: Plugin): string | undefined {
  const key = parentKeyOf(plugin);
  const parent = key === undefined ? undefined : parts.plugins.get(key);
  if (parent === undefined || !isExpansion(parent)) return undefined;
  const isWritten = parent.status?.revision?.key === currentKey(parts, parent);
  return isWritten ? undefined : `${parent.metadata.name}: its parts are not all written yet`;
}
