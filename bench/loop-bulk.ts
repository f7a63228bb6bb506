import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { API_VERSION, type KubeObject, LABEL, type Plugin } from '../src/api/index.ts';
import { runProgram } from '../src/tools/run.ts';
import { toolPath } from '../src/tools/tool.ts';
import { type Bare, createBare, rate } from './bare.ts';
import { configMap, pluginFiles } from './declarations.ts';
import { mean, type Row, seconds, times } from './figures.ts';
import { isReadyAt } from './plugin-watch.ts';
import { inWorld, type World } from './world.ts';

const OBJECTS = 1_000;
const PLUGINS = 200;
const ROUNDS = 8;
const AT_ONCE = 32;
const REST_MS = 2_000;
const TIMEOUT_MS = 180_000;
/** On what the bare loop makes. */
const BY_BENCH = 'by-bench.dev/plugin-namespace';

/** Many objects from nothing, beside a bare loop that sends the same objects, in turns. */
export async function bulkBench(): Promise<Row[]> {
  return await inWorld(async (world) => {
    const bare = await createBare(world.kubeconfig, AT_ONCE);
    try {
      const one = await inTurns(world, bare, 1, OBJECTS);
      const many = await inTurns(world, bare, PLUGINS, OBJECTS / PLUGINS);
      return [
        ...compared(`1 plugin of ${OBJECTS} objects, push to healthy`, one, 1.5),
        ...compared(`${PLUGINS} plugins of ${OBJECTS / PLUGINS} objects, push to healthy`, many, 2.5),
        { what: `kubectl apply --server-side of ${OBJECTS} objects`, figure: seconds(await kubectl(world)) },
      ];
    } finally {
      await bare.close();
    }
  });
}

interface Turns {
  ours: number[];
  loop: number[];
}

/**
 * Each goes first in every second round, after a rest in which what the last one left behind is done, and means are compared.
 * The API server collects its garbage before each, and has memory enough not to do so in one: for a fifth of a second
 * about once in two turns otherwise, and by how much each allocates it could always be the same side that pays.
 */
async function inTurns(world: World, bare: Bare, plugins: number, each: number): Promise<Turns> {
  const turns: Turns = { ours: [], loop: [] };
  const loop = async (): Promise<unknown> => turns.loop.push(await byLoop(world, bare, plugins * each));
  const ours = async (): Promise<unknown> => turns.ours.push(await byAgent(world, plugins, each));
  for (let round = 0; round < ROUNDS; round++)
    for (const turn of round % 2 === 0 ? [loop, ours] : [ours, loop]) {
      await setTimeout(REST_MS);
      await bare.collect();
      await turn();
    }
  return turns;
}

function compared(what: string, { ours, loop }: Turns, limit: number): Row[] {
  const ratio = mean(ours) / mean(loop);
  const listed = (values: number[]): string => values.map((value) => seconds(value)).join(', ');
  return [
    { what: `${what} (${listed(ours)})`, figure: seconds(mean(ours)) },
    { what: `a bare loop of the same applies (${listed(loop)})`, figure: seconds(mean(loop)) },
    { what: 'ratio', figure: times(ratio), goal: `≤ ${times(limit)}`, met: ratio <= limit },
  ];
}

async function byAgent(world: World, plugins: number, each: number): Promise<number> {
  const prefix = unique();
  const names = Array.from({ length: plugins }, (_, index) => `${prefix}-${index}`);
  const files = names.map((name) =>
    pluginFiles(
      name,
      Array.from({ length: each }, (_, index) => configMap(`${name}-${index}`, prefix)),
    ),
  );
  const commit = await world.commit(Object.assign({}, ...files));
  const ready = world.sync.ready(commit, plugins, TIMEOUT_MS);
  const hooked = await world.hook();
  const ms = (await ready) - hooked;
  await check(world, names, commit);
  // The next one begins from nothing too.
  const none = Object.fromEntries(files.flatMap((made) => Object.keys(made)).map((path) => [path, null]));
  const gone = world.sync.ready(await world.commit(none), 0, TIMEOUT_MS);
  await world.hook();
  await gone;
  return ms;
}

/** What the Sync says of its Plugins is true. */
async function check({ client, namespace }: World, names: readonly string[], commit: string): Promise<void> {
  const { items } = await client.list({ apiVersion: API_VERSION, kind: 'Plugin', namespace });
  const ready = new Set(
    items.filter((one) => isReadyAt(one as unknown as Plugin, commit)).map((one) => one.metadata.name),
  );
  const missing = names.filter((name) => !ready.has(name));
  if (missing.length > 0)
    throw new Error(`the Sync is ready, and ${missing.length} of its Plugins are not: ${missing[0]}`);
}

async function byLoop({ namespace }: World, bare: Bare, count: number): Promise<number> {
  const prefix = unique();
  const objects = Array.from({ length: count }, (_, index) => alone(namespace, `${prefix}-0-${index}`, prefix));
  const perSecond = await rate(count, AT_ONCE, async (index) => {
    const object = objects[index];
    const path = `/api/v1/namespaces/${namespace}/configmaps/${object?.metadata.name}`;
    const answer = await bare.apply(path, object);
    if ((answer as KubeObject).kind !== 'ConfigMap') throw new Error(JSON.stringify(answer));
  });
  await bare.clear(`/api/v1/namespaces/${namespace}/configmaps`, BY_BENCH);
  return (count / perSecond) * 1000;
}

async function kubectl({ kubeconfig, namespace }: World): Promise<number> {
  const prefix = unique();
  const objects = Array.from({ length: OBJECTS }, (_, index) => alone(namespace, `${prefix}-${index}`, prefix));
  const ran = await runProgram(await toolPath('kubectl'), {
    args: ['--kubeconfig', kubeconfig, 'apply', '--server-side', '-f', '-'],
    input: objects.map((object) => JSON.stringify(object)).join('\n---\n'),
    timeoutMs: 180_000,
  });
  if (ran.code !== 0) throw new Error(ran.stderr);
  return ran.ms;
}

/** As large as what the agent sends, under labels that are not ours, or the agent's watches would bring it up. */
function alone(namespace: string, name: string, text: string): KubeObject {
  const object = configMap(name, text);
  const labels = { [LABEL.plugin.replace('espalier', 'by-bench')]: name, [BY_BENCH]: namespace };
  return { ...object, metadata: { name, namespace, labels } };
}

function unique(): string {
  return `bulk-${randomBytes(3).toString('hex')}`;
}
