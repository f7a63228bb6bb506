import { type KubeObject, type Plugin, refKey, reportedOn } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import type { Expansion } from '../expansion/format.ts';
import type { Installed, Standing } from '../expansion/materials.ts';
import { imagesIn } from '../images/find.ts';
import { isReady, whyOf } from './standing.ts';

/** The Plugin that is a package as a whole, and no part of it. */
export function isWhole({ spec }: Plugin): boolean {
  return spec.kind === 'expansion' && spec.step === undefined;
}

/** What a package is in a cluster, by its Plugins and what they installed. */
export async function installedAs(
  client: KubeClient,
  plugins: readonly Plugin[],
  expansion: Expansion,
): Promise<Installed> {
  const objects = await objectsOf(client, plugins);
  return {
    steps: new Map(plugins.flatMap((one) => (one.spec.step === undefined ? [] : [[one.spec.step, standingOf(one)]]))),
    charts: new Map(plugins.flatMap((one) => (one.spec.kind === 'helm' ? [[chartOf(one), standingOf(one)]] : []))),
    conditions: new Map(
      expansion.create_cluster_delegate_conditions.map((name) => [name, gateOf(name, plugins, objects)]),
    ),
    images: new Set(imagesIn([...objects.values()])),
  };
}

async function objectsOf(client: KubeClient, plugins: readonly Plugin[]): Promise<Map<string, KubeObject>> {
  const objects = new Map<string, KubeObject>();
  for (const ref of plugins.flatMap(({ status }) => status?.inventory ?? [])) {
    const object = await client.get(ref);
    if (object !== undefined) objects.set(refKey(ref), object);
  }
  return objects;
}

function standingOf(plugin: Plugin): Standing {
  return { ready: isReady(plugin), says: whyOf(plugin) };
}

/** Name of the archive. */
function chartOf({ spec }: Plugin): string {
  const { inside, path = '' } = spec.source.git ?? {};
  return (inside ?? path).split('/').at(-1) ?? '';
}

function gateOf(condition: string, plugins: readonly Plugin[], objects: ReadonlyMap<string, KubeObject>): Standing {
  const gates = plugins.flatMap(({ spec }) => spec.gates ?? []);
  const records = gates.flatMap((gate) => (gate.condition === condition ? (objects.get(refKey(gate)) ?? []) : []));
  const isOpen = records.some((record) => reportedOn(record, condition)?.status === 'True');
  if (isOpen) return { ready: true, says: 'was waited for, and made true here in place of the operator' };
  return { ready: false, says: gates.length === 0 ? 'nothing waits for it' : 'was not made true' };
}
