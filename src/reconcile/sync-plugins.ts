import { CONDITION, type Plugin } from '../api/index.ts';
import { currentKey } from './current-key.ts';
import { hasToLetGo } from './dropped.ts';
import type { FactsParts } from './facts.ts';
import { syncOver } from './nesting.ts';
import type { Parts } from './parts.ts';

/** What the revision of a Sync consists of: the Plugins that it wrote, and what is nested in them. */
export function* pluginsOf(parts: Pick<Parts, 'plugins'>, sync: string): Generator<Plugin> {
  for (const plugin of parts.plugins.values())
    if (syncOver(plugin, (key) => parts.plugins.get(key)) === sync) yield plugin;
}

/** Whether a Plugin is what it declares *now*: ready at its current inputs, or, where it is not wanted here, not there. */
export function reached(parts: FactsParts & Pick<Parts, 'inputs' | 'owned'>, plugin: Plugin): boolean {
  const { status } = plugin;
  if (plugin.metadata.deletionTimestamp !== undefined || status?.observedGeneration !== plugin.metadata.generation)
    return false;
  const ready = status?.conditions?.find((one) => one.type === CONDITION.Ready);
  if (ready?.status !== 'True' || hasToLetGo(parts, plugin)) return false;
  return ready.reason === 'Disabled' || status?.revision?.key === currentKey(parts, plugin);
}
