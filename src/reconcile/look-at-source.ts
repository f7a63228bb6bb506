import type { ObjectRef, Plugin } from '../api/index.ts';
import { hasChartSource } from './chart-sources.ts';
import type { Facts } from './facts.ts';
import { hasOwnSource } from './own-sources.ts';
import type { Parts } from './parts.ts';
import type { PluginFindings } from './plugin-status.ts';
import { repositoryRefs } from './repository-options.ts';
import { keyOf } from './store.ts';

/** Looks where the source is where that is due; says in how many milliseconds it is due again. */
export async function lookAtSource(
  parts: Parts,
  plugin: Plugin,
  { sync, parents }: Facts,
  isAsked: boolean,
  signal: AbortSignal,
): Promise<number> {
  if (hasOwnSource(plugin)) {
    const before = parts.ownSources.known(plugin);
    const nextLook = await parts.ownSources.look(plugin, isAsked);
    if (before === undefined && parts.ownSources.known(plugin) !== undefined) {
      // Until now nobody could say whether it is what it should be.
      for (const other of [...parents, ...parts.dependents.of(keyOf(plugin))]) parts.wakePlugin(other);
      if (sync !== undefined) parts.wakeSync(keyOf(sync));
    }
    return nextLook;
  }
  if (hasChartSource(plugin)) return await parts.chartSources.look(plugin, isAsked, signal);
  return Number.POSITIVE_INFINITY;
}

/** What that found, where it is news. */
export function resolvedNow(parts: Parts, plugin: Plugin): Pick<PluginFindings, 'resolved'> {
  const resolved = hasChartSource(plugin) ? parts.chartSources.known(plugin) : undefined;
  const before = plugin.status?.resolved;
  const isNews = resolved !== undefined && (resolved.id !== before?.id || resolved.source !== before.source);
  return isNews ? { resolved } : {};
}

/** What opens the repository that a Plugin names itself, to be watched. */
export function credentialRefs(plugin: Plugin): ObjectRef[] {
  const { git } = plugin.spec.source;
  return git?.url === undefined
    ? []
    : repositoryRefs(plugin.metadata.namespace ?? '', {
        url: git.url,
        ...(git.secretRef === undefined ? {} : { secretRef: git.secretRef }),
      });
}
