import { API_VERSION, type KubeObject, type Sync } from '../src/api/index.ts';
import type { KubeClient } from '../src/cluster/client.ts';
import { watchObjects } from '../src/cluster/watch.ts';

/** What the API server says of the Sync: a few events where each Plugin would have its own, which all cost those measured. */
export interface SyncWatch {
  /** The moment when it was seen ready at a commit, with so many Plugins. */
  ready(commit: string, plugins: number, timeoutMs: number): Promise<number>;
}

export async function watchSync(
  client: KubeClient,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<SyncWatch> {
  let sync: Sync | undefined;
  const listeners = new Set<() => void>();
  const handlers = {
    onEvent(_type: unknown, object: KubeObject): void {
      if (object.metadata.name !== name) return;
      sync = object as unknown as Sync;
      for (const listener of listeners) listener();
    },
  };
  await watchObjects(client, { apiVersion: API_VERSION, kind: 'Sync', namespace }, handlers, { signal }).synced;
  return {
    ready(commit, plugins, timeoutMs) {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const look = (): void => {
        const { phase, commit: applied, plugins: counts } = sync?.status ?? {};
        if (phase === 'Ready' && applied === commit && counts?.total === plugins) resolve(performance.now());
      };
      const describe = (): string => `${sync?.status?.phase} at ${sync?.status?.commit}: ${sync?.status?.message}`;
      const late = setTimeout(() => reject(new Error(`the Sync is ${describe()}`)), timeoutMs);
      listeners.add(look);
      look();
      return promise.finally(() => {
        clearTimeout(late);
        listeners.delete(look);
      });
    },
  };
}
