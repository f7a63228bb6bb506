import { API_VERSION, type KubeObject } from '../src/api/index.ts';
import { watchObjects } from '../src/cluster/watch.ts';
import { KUBEGEMS_API_VERSION, type KubegemsStatus } from '../src/compat/kubegems-kind.ts';
import { packageChart } from '../src/playground/charts/package.ts';
import { startChartRepository } from '../src/playground/charts/repository.ts';
import { toolPath } from '../src/tools/tool.ts';
import { eventually } from '../test/support/eventually.ts';
import { smallChart } from './declarations.ts';
import { below, median, plainTable, type Row, seconds, spread } from './figures.ts';
import { inWorld, type World } from './world.ts';

const OTHERS = 20;
const EDITS = 15;
const NAME = 'edited';

/** Edits of KubeGems objects in a cluster, beside others that are at rest. */
export async function main(): Promise<Row[]> {
  const charts = await startChartRepository();
  // The agent of a benchmark has a cache of its own, and would build Helm for it.
  process.env.ESPALIER_TOOL_HELM = await toolPath('helm');
  try {
    const chart = packageChart(smallChart());
    charts.add(chart);
    const spec = { kind: 'helm', url: charts.url, chart: chart.name, version: chart.version };
    const rows = await inWorld((world) => measure(world, spec));
    console.log(`${plainTable(rows)}\n`);
    return rows;
  } finally {
    await charts.stop();
  }
}

async function measure(world: World, spec: object): Promise<Row[]> {
  const { client, namespace } = world;
  const sync = { apiVersion: API_VERSION, kind: 'Sync', namespace, name: 'platform' };
  await client.patch(sync, { spec: { compat: { kubegems: true } } }, { type: 'merge', fieldManager: 'bench' });
  const names = [NAME, ...Array.from({ length: OTHERS }, (_, index) => `other-${index}`)];
  const began = performance.now();
  for (const name of names)
    await eventually(() => client.create(gem(world, name, { ...spec, values: { text: 'one' } })));
  const seen = follow(world);
  for (const name of names) await seen.until((is) => is.installed.has(name));
  const rows: Row[] = [
    { what: `${names.length} KubeGems objects from nothing, Installed`, figure: seconds(performance.now() - began) },
  ];
  const [changed, installed]: [number[], number[]] = [[], []];
  for (let round = 0; round < EDITS; round++) {
    const text = `edit ${round}`;
    const at = performance.now();
    const patch = { spec: { values: { text } } };
    await client.patch({ ...kind(world), name: NAME }, patch, { type: 'merge', fieldManager: 'bench' });
    changed.push((await seen.until((is) => is.text === text)) - at);
    installed.push((await seen.until((is) => is.installed.has(NAME))) - at);
  }
  seen.stop();
  const what = 'edit of .spec.values';
  rows.push(below(`${what} to the changed object (${spread(changed)})`, median(changed), 2_000, seconds));
  rows.push(below(`${what} to Installed again (${spread(installed)})`, median(installed), 5_000, seconds));
  return rows;
}

interface Seen {
  text: string | undefined;
  installed: Set<string>;
}

/** What the cluster shows by watches of the benchmark's own. */
function follow(world: World) {
  const { client, namespace } = world;
  const seen: Seen = { text: undefined, installed: new Set() };
  const waiting = new Set<() => void>();
  const told = (): void => waiting.forEach((look) => void look());
  const config = watchObjects(
    client,
    { apiVersion: 'v1', kind: 'ConfigMap', namespace },
    {
      onEvent: (_, object) => {
        if (object.metadata.name === NAME) seen.text = (object.data as { text?: string } | undefined)?.text;
        told();
      },
    },
  );
  const gems = watchObjects(client, kind(world), {
    onEvent: (_, { metadata, status }) => {
      const { phase, observedGeneration } = (status ?? {}) as KubegemsStatus;
      if (phase === 'Installed' && observedGeneration === metadata.generation) seen.installed.add(metadata.name);
      else seen.installed.delete(metadata.name);
      told();
    },
  });
  const until = (is: (seen: Seen) => boolean): Promise<number> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!is(seen)) return;
        waiting.delete(look);
        resolve(performance.now());
      };
      waiting.add(look);
      look();
    });
  return { until, stop: () => void [config.stop(), gems.stop()] };
}

function kind({ namespace }: World) {
  return { apiVersion: KUBEGEMS_API_VERSION, kind: 'Plugin', namespace };
}

function gem(world: World, name: string, spec: object): KubeObject {
  const { apiVersion, kind: plugin, namespace } = kind(world);
  return { apiVersion, kind: plugin, metadata: { name, namespace }, spec };
}
