import { randomBytes } from 'node:crypto';
import { refOf } from '../src/api/index.ts';
import { healthOf } from '../src/cluster/health.ts';
import { watchObjects } from '../src/cluster/watch.ts';
import { configMap, deployment, pluginFiles } from './declarations.ts';
import { below, median, type Row, seconds, spread } from './figures.ts';
import { inWorld, type World } from './world.ts';

const PUSHES = 10;
const CHAIN = 6;
const CHAINS = 3;

/** From the webhook to "ready at that commit": one small plugin, and a chain of plugins that wait for each other. */
export async function pushBench(): Promise<Row[]> {
  return await inWorld(async (world) => {
    await pushPlugin(world, 'warm-up');
    const [changed, fresh, floor]: number[][] = [[], [], []];
    for (let round = 0; round < PUSHES; round++) {
      floor?.push(await withoutUs(world, 'floor'));
      changed?.push(await pushPlugin(world, 'small'));
      fresh?.push(await pushPlugin(world, `small-${round}`));
    }
    // The first push of it made it; what counts are the changes.
    changed?.shift();
    const [newChains, changedChains]: number[][] = [[], []];
    for (let round = 0; round < CHAINS; round++) {
      newChains?.push(await pushChain(world, `chain-${round}`));
      changedChains?.push(await pushChain(world, `chain-${round}`));
    }
    return [
      goal('push to healthy, a change of a small plugin', changed ?? [], 1_000),
      goal('push to healthy, a new small plugin', fresh ?? [], 1_000),
      { what: 'the same Deployment without an agent, apply to healthy', figure: seconds(median(floor ?? [])) },
      goal(`push to healthy, a new chain of ${CHAIN}`, newChains ?? [], 3_000),
      goal(`push to healthy, a change of a chain of ${CHAIN}`, changedChains ?? [], 3_000),
    ];
  });
}

function goal(what: string, values: number[], limit: number): Row {
  return below(`${what} (${spread(values)})`, median(values), limit, seconds);
}

async function pushPlugin(world: World, name: string): Promise<number> {
  const commit = await world.commit(pluginFiles(name, objectsOf(name)));
  return await untilReady(world, [name], commit);
}

async function pushChain(world: World, prefix: string): Promise<number> {
  const names = Array.from({ length: CHAIN }, (_, index) => `${prefix}-${index}`);
  const files = names.map((name, index) =>
    pluginFiles(name, objectsOf(name), names.slice(Math.max(0, index - 1), index)),
  );
  const commit = await world.commit(Object.assign({}, ...files));
  return await untilReady(world, names, commit);
}

async function untilReady(world: World, names: string[], commit: string): Promise<number> {
  const ready = world.plugins.ready(names, commit);
  const hooked = await world.hook();
  return (await ready) - hooked;
}

/** A new pod each time: a change that rolls out. */
function objectsOf(name: string) {
  const text = randomBytes(8).toString('hex');
  return [configMap(name, text), deployment(name, text)];
}

/** What Kubernetes itself takes to make such a Deployment healthy: no agent can be faster. */
async function withoutUs({ client, namespace }: World, name: string): Promise<number> {
  const [, declared] = objectsOf(name);
  if (declared === undefined) throw new Error('no Deployment');
  const object = { ...declared, metadata: { ...declared.metadata, namespace } };
  const started = performance.now();
  const applied = await client.apply(object, { fieldManager: 'bench' });
  const { promise, resolve } = Promise.withResolvers<number>();
  const { apiVersion, kind } = refOf(object);
  const watch = watchObjects(
    client,
    { apiVersion, kind, namespace, fieldSelector: `metadata.name=${name}` },
    {
      onEvent(_type, live) {
        const isNew = (live.metadata.generation ?? 0) >= (applied.metadata.generation ?? 0);
        if (isNew && healthOf(live).state === 'healthy') resolve(performance.now());
      },
    },
  );
  const healthy = await promise;
  await watch.stop();
  return healthy - started;
}
