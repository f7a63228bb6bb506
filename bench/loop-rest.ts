import { setTimeout as sleep } from 'node:timers/promises';
import { API_VERSION, type KubeObject } from '../src/api/index.ts';
import { describeRequests, requestsSince } from './agent-process.ts';
import { configMap, pluginFiles } from './declarations.ts';
import { below, type Row, seconds } from './figures.ts';
import { inWorld, type World } from './world.ts';

const PLUGINS = 1_000;
const REST_MS = 30_000;
/** After the last change: what was put off runs, and the garbage goes. */
const SETTLE_MS = 15_000;
const FILL_TIMEOUT_MS = 600_000;

/** A large platform on which nothing happens, and then one small change. */
export async function restBench(): Promise<Row[]> {
  return await inWorld(async (world) => {
    const names = Array.from({ length: PLUGINS }, (_, index) => `app-${index}`);
    const commit = await world.commit(
      Object.assign({}, ...names.map((name) => pluginFiles(name, objectsOf(name, '1')))),
    );
    const ready = world.plugins.ready(names, commit, FILL_TIMEOUT_MS);
    const hooked = await world.hook();
    const took = (await ready) - hooked;
    const cpu = await world.agent.cpuMs();
    const rows: Row[] = [
      { what: `${PLUGINS} plugins of 5 objects from nothing`, figure: seconds(took) },
      { what: 'processor time of the agent for it', figure: seconds(cpu) },
    ];
    rows.push(...(await restOf(world, 'at rest after it')));
    await world.restartAgent();
    rows.push(...(await restOf(world, 'at rest after a restart')));
    rows.push(...(await touchOne(world, names[500] ?? '')));
    return rows;
  });
}

async function restOf({ agent, client, namespace }: World, when: string): Promise<Row[]> {
  await syncIsReady(client, namespace);
  await sleep(SETTLE_MS);
  const before = await agent.requests();
  const cpuBefore = await agent.cpuMs();
  await sleep(REST_MS);
  const share = ((await agent.cpuMs()) - cpuBefore) / REST_MS;
  const sent = requestsSince(before, await agent.requests());
  const { now, most } = await agent.memory();
  const others = [...sent].filter(([key]) => !key.startsWith('watch ') && !key.endsWith(' Lease'));
  const megabytes = (value: number): string => `${Math.round(value)} MB`;
  return [
    below(`${when}: memory (at most ${megabytes(most)})`, now, 300, megabytes),
    below(`${when}: share of a core in ${seconds(REST_MS)}`, share * 100, 1, (value) => `${value.toFixed(2)} %`),
    {
      what: `${when}: requests but watches and leases`,
      figure: describeRequests(new Map(others)),
      goal: 'none',
      met: others.length === 0,
    },
  ];
}

async function touchOne(world: World, name: string): Promise<Row[]> {
  const gitBefore = world.git.requests.length;
  const before = await world.agent.requests();
  const commit = await world.commit(pluginFiles(name, objectsOf(name, '2')));
  const ready = world.plugins.ready([name], commit);
  const hooked = await world.hook();
  const took = (await ready) - hooked;
  await syncIsReady(world.client, world.namespace, commit);
  await sleep(2_000);
  const sent = requestsSince(before, await world.agent.requests());
  const written = [...sent].filter(([key]) => !key.startsWith('watch ') && !key.endsWith(' Lease'));
  const count = written.reduce((sum, [, times]) => sum + times, 0);
  return [
    below('a commit that touches one plugin, push to healthy', took, 1_000, seconds),
    {
      what: `its requests to the API server: ${describeRequests(new Map(written))}`,
      figure: String(count),
      goal: 'for that plugin only',
      met: count <= 20,
    },
    { what: 'its requests to the Git server', figure: String(world.git.requests.length - gitBefore) },
  ];
}

async function syncIsReady(client: World['client'], namespace: string, commit?: string): Promise<void> {
  const until = Date.now() + 60_000;
  for (;;) {
    const sync = await client.get({ apiVersion: API_VERSION, kind: 'Sync', namespace, name: 'platform' });
    const status = sync?.status as { phase?: string; commit?: string; message?: string } | undefined;
    if (status?.phase === 'Ready' && (commit === undefined || status.commit === commit)) return;
    if (Date.now() > until) throw new Error(`the Sync is ${status?.phase}: ${status?.message}`);
    await sleep(200);
  }
}

/** Five kinds of things that every cluster is full of, none of which needs anybody to become healthy. */
function objectsOf(name: string, text: string): KubeObject[] {
  const labels = { app: name };
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }];
  return [
    configMap(name, text),
    { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { token: text } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, labels },
      spec: { selector: labels, ports: [{ port: 80 }] },
    },
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name }, rules },
  ];
}
