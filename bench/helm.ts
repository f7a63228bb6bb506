import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { API_VERSION } from '../src/api/index.ts';
import { packageChart } from '../src/playground/charts/package.ts';
import { type ChartRepository, startChartRepository } from '../src/playground/charts/repository.ts';
import { describeRequests, requestsSince } from './agent-process.ts';
import { smallChart } from './declarations.ts';
import { below, median, plainTable, type Row, seconds, spread, times } from './figures.ts';
import { countStarts, type Starts } from './helm-starts.ts';
import { type PlainReleases, plainReleases } from './plain-helm.ts';
import { inWorld, type World } from './world.ts';

const RELEASES = 100;
const AT_ONCE = 8;
const ROUNDS = 2;
const CHANGES = 7;
const CHAIN = 6;
const CHAINS = 3;
const FILL_TIMEOUT_MS = 180_000;
const SETTLE_MS = 3_000;

/** Helm releases by the agent, beside the plain program over the same chart, in turns. */
export async function main(): Promise<Row[]> {
  const dir = await mkdtemp(join(tmpdir(), 'espalier-bench-helm-'));
  const charts = await startChartRepository();
  const starts = await countStarts(dir);
  try {
    const chart = packageChart(smallChart());
    charts.add(chart);
    const rows = await inWorld(async (world) => {
      const plain = await plainReleases(world, chart, dir, starts.helm);
      return await measure(world, { charts, plain, starts });
    });
    console.log(`${plainTable(rows)}\n`);
    return rows;
  } finally {
    starts.stop();
    await charts.stop();
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface Parts {
  charts: ChartRepository;
  plain: PlainReleases;
  starts: Starts;
}

async function measure(world: World, parts: Parts): Promise<Row[]> {
  await parts.plain.install(['warm-up'], 1);
  await install(world, parts, ['warm-up']);
  const [ours, theirs]: number[][] = [[], []];
  const names: string[] = [];
  let cpu = await world.agent.cpuMs();
  for (let round = 0; round < ROUNDS; round++) {
    const some = Array.from({ length: RELEASES }, (_, index) => `r${round}-${index}`);
    theirs?.push(await parts.plain.install(some, AT_ONCE));
    cpu = await world.agent.cpuMs();
    ours?.push(await install(world, parts, some));
    cpu = (await world.agent.cpuMs()) - cpu;
    names.push(...some);
  }
  const ratio = median(ours ?? []) / median(theirs ?? []);
  const rows: Row[] = [
    { what: `${RELEASES} releases from nothing, healthy (${listed(ours)})`, figure: seconds(median(ours ?? [])) },
    {
      what: `helm upgrade --install of the same, ${AT_ONCE} at a time, healthy (${listed(theirs)})`,
      figure: seconds(median(theirs ?? [])),
    },
    { what: 'ratio', figure: times(ratio), goal: `≤ ${times(1.5)}`, met: ratio <= 1.5 },
    { what: `processor time of the agent and its children for ${RELEASES} releases`, figure: seconds(cpu) },
    { what: 'children of the agent at once, at most', figure: String((await parts.starts.most()).children) },
  ];
  const { now, most } = await world.agent.memory();
  const megabytes = (value: number): string => `${Math.round(value)} MB`;
  rows.push(
    below(`memory of the agent with ${names.length + 1} releases (at most ${megabytes(most)})`, now, 300, megabytes),
  );
  rows.push(...(await secondPass(world, parts)));
  rows.push(await oneChange(world, parts, names[50] ?? ''));
  rows.push(await chains(world, parts));
  return rows;
}

function listed(values: readonly number[] = []): string {
  return values.map((value) => seconds(value)).join(', ');
}

/** From the webhook until every one is ready at that commit. */
async function install(world: World, { charts }: Parts, names: readonly string[], text = 'one'): Promise<number> {
  const files = names.map((name) => [`plugins/${name}.yaml`, declaration(charts, name, { text })] as const);
  return await pushed(world, Object.fromEntries(files), names);
}

async function pushed(world: World, files: Record<string, string>, names: readonly string[]): Promise<number> {
  const commit = await world.commit(files);
  const ready = world.plugins.ready(names, commit, FILL_TIMEOUT_MS);
  const hooked = await world.hook();
  return (await ready) - hooked;
}

function declaration(
  { url }: ChartRepository,
  name: string,
  { text, after }: { text: string; after?: string },
): string {
  const { name: chart, version } = packageChart(smallChart());
  const spec = {
    kind: 'helm',
    source: { chart: { repository: url, name: chart, version } },
    values: { text },
    ...(after === undefined ? {} : { dependsOn: [{ name: after }] }),
  };
  return JSON.stringify({ apiVersion: API_VERSION, kind: 'Plugin', metadata: { name }, spec }, null, 2);
}

/** A commit that changes nothing that is declared: every Plugin is looked at again. */
async function secondPass(world: World, { starts, charts }: Parts): Promise<Row[]> {
  await settled();
  const [before, startedBefore] = [await world.agent.requests(), await starts.count()];
  charts.forgetRequests();
  const commit = await world.commit({ 'docs/nothing.md': 'nothing that is declared\n' });
  const hooked = await world.hook();
  await syncIsAt(world, commit);
  const took = performance.now() - hooked;
  await settled();
  const writes = [...requestsSince(before, await world.agent.requests())].filter(
    ([key]) => !/^(watch|get|list) /.test(key) && !/ (Lease|Sync)$/.test(key),
  );
  const started = (await starts.count()) - startedBefore;
  const what = 'a second pass over unchanged declarations';
  return [
    { what, figure: seconds(took) },
    {
      what: `${what}: programs started`,
      figure: started === 0 ? 'none' : String(started),
      goal: 'none',
      met: started === 0,
    },
    {
      what: `${what}: writes, but for the status of the Sync`,
      figure: writes.length === 0 ? 'none' : describeRequests(new Map(writes)),
      goal: 'none',
      met: writes.length === 0,
    },
    {
      what: `${what}: archives fetched`,
      figure: String(charts.requests.filter(({ path }) => path.endsWith('.tgz')).length),
    },
  ];
}

async function oneChange(world: World, parts: Parts, name: string): Promise<Row> {
  const took: number[] = [];
  for (let round = 0; round < CHANGES; round++) took.push(await install(world, parts, [name], `change ${round}`));
  const what = `push to healthy, a change of values of one release (${spread(took)})`;
  return below(what, median(took), 2_000, seconds);
}

async function chains(world: World, { charts }: Parts): Promise<Row> {
  const took: number[] = [];
  for (let round = 0; round < CHAINS; round++) {
    const names = Array.from({ length: CHAIN }, (_, index) => `chain-${round}-${index}`);
    const files = names.map((name, index) => {
      const after = names[index - 1];
      return [`plugins/${name}.yaml`, declaration(charts, name, { text: 'one', ...(after && { after }) })] as const;
    });
    took.push(await pushed(world, Object.fromEntries(files), names));
  }
  return below(`push to healthy, a new chain of ${CHAIN} releases (${spread(took)})`, median(took), 6_000, seconds);
}

async function syncIsAt({ client, namespace }: World, commit: string): Promise<void> {
  const until = Date.now() + 60_000;
  for (;;) {
    const sync = await client.get({ apiVersion: API_VERSION, kind: 'Sync', namespace, name: 'platform' });
    const status = sync?.status as { commit?: string; phase?: string; message?: string } | undefined;
    if (status?.phase === 'Ready' && status.commit === commit) return;
    if (Date.now() > until) throw new Error(`the Sync is ${status?.phase}: ${status?.message}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
}
