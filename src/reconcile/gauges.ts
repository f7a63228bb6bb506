import { CONDITION } from '../api/index.ts';
import { keyOf } from './store.ts';
import type { Term } from './term.ts';

/** What a scrape shows, read from the caches of the running term; nothing of it while another replica leads. */
export function gaugesOf(term: () => Term | undefined) {
  const parts = () => term()?.parts;
  return {
    queues: () =>
      Object.entries(term()?.queues ?? {}).map(([kind, queue]) => ({
        kind,
        depth: queue.depth,
        oldestSeconds: queue.oldestAgeMs / 1000,
        running: queue.running,
        delayed: queue.delayed,
      })),
    plugins() {
      const phases: Record<string, number> = {};
      for (const plugin of parts()?.plugins.values() ?? []) {
        const phase = plugin.status?.phase ?? 'Pending';
        phases[phase] = (phases[phase] ?? 0) + 1;
      }
      return phases;
    },
    syncs: () =>
      [...(parts()?.syncs.values() ?? [])].map((sync) => ({
        sync: keyOf(sync),
        ready: sync.status?.conditions?.some((one) => one.type === CONDITION.Ready && one.status === 'True') ?? false,
        held: sync.status?.held?.objects?.length ?? 0,
        commitAgeSeconds: ageOf(parts()?.memories.of(keyOf(sync)).committedAt, parts()?.clock.now()),
      })),
    drifted: () =>
      [...(parts()?.plugins.values() ?? [])].reduce((sum, plugin) => sum + (plugin.status?.drift?.length ?? 0), 0),
    heldDeletions: () =>
      [...(parts()?.syncs.values() ?? [])].reduce((sum, sync) => sum + (sync.status?.held?.objects?.length ?? 0), 0),
    ownedObjects: () => parts()?.owned.size ?? 0,
    watches: () => parts()?.watches.size ?? 0,
    leading: () => term() !== undefined,
  };
}

function ageOf(at: number | undefined, now: number | undefined): number | undefined {
  return at === undefined || now === undefined ? undefined : Math.max(0, (now - at) / 1000);
}
