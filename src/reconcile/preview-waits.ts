import { isError, type KubeObject, type Plugin, refKey } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { readinessOf } from './readiness.ts';
import type { RevisionPlugin } from './render-revision.ts';
import { outsideRefs, waitsOf } from './waits.ts';

/** What the change of a Plugin would wait for, beside what the revision itself brings about. */
export async function waitsInPreview(
  client: KubeClient,
  { plugin }: RevisionPlugin,
  revision: ReadonlyMap<string, RevisionPlugin>,
  live: ReadonlyMap<string, Plugin>,
): Promise<string[]> {
  const outside = new Map<string, KubeObject | 'absent'>();
  for (const ref of outsideRefs(plugin)) {
    try {
      outside.set(refKey(ref), (await client.get(ref)) ?? 'absent');
    } catch (error) {
      if (!isError(error, 'KubeKindUnknown')) throw error;
    }
  }
  const waits = waitsOf({
    plugin,
    now: Date.now(),
    outside: (ref) => outside.get(refKey(ref)) ?? 'absent',
    pluginReadiness(key) {
      const beside = revision.get(key);
      if (beside?.rendered !== undefined && beside.isNew) return { ready: true };
      return readinessOf(beside?.plugin ?? live.get(key), undefined);
    },
  });
  return waits.for;
}
