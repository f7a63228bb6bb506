import { isError, type KubeObject, type Plugin, refKey } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { readinessOf } from './readiness.ts';
import type { RevisionPlugin } from './render-revision.ts';
import { SelectedHealth } from './selected-health.ts';
import { listTarget, type WatchedSelection } from './selections.ts';
import { outsideRefs, selectionsOf, waitsOf } from './waits.ts';

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
  const selected = new Map<string, SelectedHealth>();
  for (const selection of selectionsOf(plugin))
    selected.set(JSON.stringify(selection), await healthNow(client, selection));
  const waits = waitsOf({
    plugin,
    now: Date.now(),
    isPreview: true,
    outside: (ref) => outside.get(refKey(ref)) ?? 'absent',
    selected: (selection) => selected.get(JSON.stringify(selection))?.whyNot(),
    pluginReadiness(key) {
      const beside = revision.get(key);
      if (beside?.rendered !== undefined && beside.isNew) return { ready: true };
      return readinessOf(beside?.plugin ?? live.get(key), undefined);
    },
  });
  return waits.for;
}

async function healthNow(client: KubeClient, selection: WatchedSelection): Promise<SelectedHealth> {
  let health = new SelectedHealth(selection.ready);
  try {
    await client.pages(listTarget(selection), (items, { restarted }) => {
      if (restarted) health = new SelectedHealth(selection.ready);
      for (const item of items) health.change('added', item);
    });
  } catch (error) {
    if (!isError(error, 'KubeKindUnknown')) throw error;
  }
  return health;
}
