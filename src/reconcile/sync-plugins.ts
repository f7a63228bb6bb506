import { CONDITION, type Plugin } from '../api/index.ts';
import { currentKey } from './current-key.ts';
import { hasToDelete } from './dropped.ts';
import { syncKeyOf } from './facts.ts';
import type { Parts } from './parts.ts';

export function* pluginsOf(parts: Pick<Parts, 'plugins'>, sync: string): Generator<Plugin> {
  for (const plugin of parts.plugins.values()) if (syncKeyOf(plugin) === sync) yield plugin;
}

/** Whether a Plugin is what it declares *now*: ready at its current inputs, or, where it is not wanted here, not there. */
export function reached(parts: Pick<Parts, 'syncs' | 'kubernetes' | 'inputs' | 'owned'>, plugin: Plugin): boolean {
  const { status } = plugin;
  if (plugin.metadata.deletionTimestamp !== undefined || status?.observedGeneration !== plugin.metadata.generation)
    return false;
  const ready = status?.conditions?.find((one) => one.type === CONDITION.Ready);
  if (ready?.status !== 'True' || hasToDelete(parts, plugin)) return false;
  return ready.reason === 'Disabled' || status?.revision?.key === currentKey(parts, plugin);
}
