import { API_VERSION, type KubeObject, type Plugin } from '../src/api/index.ts';
import type { KubeClient } from '../src/cluster/client.ts';
import { watchObjects } from '../src/cluster/watch.ts';

/** What the API server says of the Plugins, as anybody who watches them would see it. */
export interface PluginWatch {
  /** The moment when all these Plugins were seen ready at a commit. */
  ready(names: readonly string[], commit: string, timeoutMs?: number): Promise<number>;
}

/** Watches from the first question on: each event of each Plugin would be charged to whoever is measured. */
export function watchPlugins(client: KubeClient, namespace: string, signal: AbortSignal): PluginWatch {
  let isWatched = false;
  const plugins = new Map<string, Plugin>();
  const listeners = new Set<(name: string) => void>();
  const handlers = {
    // Taken as it comes: what it costs to read it whole would be charged to whoever is measured.
    onEvent(type: 'added' | 'modified' | 'deleted', object: KubeObject): void {
      const { name } = object.metadata;
      if (type === 'deleted') plugins.delete(name);
      else plugins.set(name, object as unknown as Plugin);
      for (const listener of listeners) listener(name);
    },
  };
  return {
    ready(names, commit, timeoutMs = 60_000) {
      if (!isWatched)
        watchObjects(client, { apiVersion: API_VERSION, kind: 'Plugin', namespace }, handlers, { signal });
      isWatched = true;
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const missing = new Set(names);
      const look = (name: string): void => {
        if (isReadyAt(plugins.get(name), commit)) missing.delete(name);
        if (missing.size === 0) resolve(performance.now());
      };
      const late = setTimeout(() => reject(new Error(describeMissing(missing, plugins))), timeoutMs);
      listeners.add(look);
      for (const name of names) look(name);
      return promise.finally(() => {
        clearTimeout(late);
        listeners.delete(look);
      });
    },
  };
}

export function isReadyAt(plugin: Plugin | undefined, commit: string): boolean {
  return (
    plugin?.status?.phase === 'Ready' &&
    plugin.status.revision?.commit === commit &&
    plugin.status.observedGeneration === plugin.metadata.generation
  );
}

function describeMissing(missing: ReadonlySet<string>, plugins: ReadonlyMap<string, Plugin>): string {
  const some = [...missing].slice(0, 5).map((name) => {
    const { phase = 'absent', message = '' } = plugins.get(name)?.status ?? {};
    return `${name} is ${phase} ${message}`;
  });
  return `${missing.size} plugins are not ready: ${some.join('; ')}`;
}
