import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { healthOf } from '../src/cluster/health.ts';
import { watchObjects } from '../src/cluster/watch.ts';
import type { PassedRequest } from '../test/support/forgeproxy.ts';
import { configMap, deployment, pluginFiles } from './declarations.ts';
import { below, median, plainTable, type Row, seconds, spread } from './figures.ts';
import { type ForgeWorld, inForgeWorld } from './forge-world.ts';

const PLUGINS = 300;
/** Every so many, one that rolls pods out. */
const DEPLOYMENT_EVERY = 50;
const TOUCHED = 3;
/** Of those that roll pods out. What is pushed to main does not touch what is proposed. */
const PROPOSED = [50, 100, 150];
const PUSHED = [0, 200, 250];
const PULLS = 7;
const PUSHES = 10;
const TIMEOUT_MS = 60_000;
const FILL_TIMEOUT_MS = 600_000;
/** Long enough for what a push wakes later, such as the second look at pull requests, to be over. */
const REST_MS = 8_000;

/** What the forge is told, and how soon after it told the agent: plans on pull requests, and statuses of pushes. */
export async function main(): Promise<Row[]> {
  const rows = await inForgeWorld(async (world) => {
    const names = Array.from({ length: PLUGINS }, (_, index) => `app-${index}`);
    const commit = await world.repository.push(Object.assign({}, ...names.map((name) => filesOf(name))));
    await world.plugins.ready(names, commit, FILL_TIMEOUT_MS);
    await statusOf(world, commit, 'success', world.toForge.requests[0]?.at ?? 0);
    await sleep(REST_MS);
    return [...(await pullRequests(world)), ...(await pushes(world))];
  });
  console.log(`${plainTable(rows)}\n`);
  return rows;
}

async function pullRequests(world: ForgeWorld): Promise<Row[]> {
  const [opened, moved, status]: [number[], number[], number[]] = [[], [], []];
  const rendered = new Set<number>();
  for (let round = 0; round < PULLS; round++) {
    const branch = `topic-${round}`;
    // Of those three, one rolls pods out.
    const from = PROPOSED[round % PROPOSED.length] ?? 0;
    const touched = Array.from({ length: TOUCHED }, (_, index) => `app-${from + index}`);
    await world.repository.push(Object.assign({}, ...touched.map(filesOf)), { branch });
    await sleep(REST_MS);
    const before = await renderings(world);
    const since = performance.now();
    const { number } = await world.repository.openPull({ branch });
    const hooked = await hookOf(world, ['pull_request'], since);
    const comment = await told(world, 'POST', `/issues/${number}/comments`, since);
    opened.push(comment.answeredAt - hooked);
    const head = (await world.repository.pull(number)).head;
    status.push((await statusOf(world, head, 'success', since, '/plan')).answeredAt - hooked);
    rendered.add((await renderings(world)) - before);
    await sleep(REST_MS);
    const again = performance.now();
    await world.repository.push(Object.assign({}, ...touched.map(filesOf)), { branch });
    const pushed = await hookOf(world, ['push', 'pull_request'], again);
    moved.push((await told(world, 'PATCH', '/issues/comments/', again)).answeredAt - pushed);
  }
  return [
    goal(`pull request that touches ${TOUCHED} of ${PLUGINS}, webhook to comment`, opened, 5_000),
    goal('the same, webhook to its status', status, 5_000),
    goal('another push to it, webhook to the changed comment', moved, 5_000),
    {
      what: 'plugins rendered for it',
      figure: [...rendered].join(', '),
      goal: String(TOUCHED),
      met: [...rendered].join() === String(TOUCHED),
    },
  ];
}

/** With the pull requests still open: a push to main moves the base of all of them. */
async function pushes(world: ForgeWorld): Promise<Row[]> {
  const [pending, final]: [number[], number[]] = [[], []];
  for (let round = 0; round < PUSHES; round++) {
    await sleep(REST_MS);
    const name = `app-${PUSHED[round % PUSHED.length]}`;
    const healthy = healthyAgain(world, name);
    const since = performance.now();
    const commit = await world.repository.push(filesOf(name));
    const hooked = await hookOf(world, ['push'], since);
    pending.push((await statusOf(world, commit, 'pending', since)).answeredAt - hooked);
    final.push((await statusOf(world, commit, 'success', since)).answeredAt - (await healthy));
  }
  return [
    goal(`push that touches 1 of ${PLUGINS}, webhook to pending`, pending, 1_000),
    goal('its Deployment healthy to success', final, 1_000),
  ];
}

function goal(what: string, values: number[], limit: number): Row {
  return below(`${what} (median of ${values.length}; ${spread(values)})`, median(values), limit, seconds);
}

/** A change each time: every fiftieth is a Deployment, which has new pods then. */
function filesOf(name: string): Record<string, string> {
  const text = randomBytes(8).toString('hex');
  const rolls = Number(name.slice('app-'.length)) % DEPLOYMENT_EVERY === 0;
  return pluginFiles(name, rolls ? [configMap(name, text), deployment(name, text)] : [configMap(name, text)]);
}

/** When the first webhook of one of these kinds reached the agent. */
async function hookOf({ toAgent }: ForgeWorld, events: string[], since: number): Promise<number> {
  const isIt = ({ at, headers }: PassedRequest): boolean =>
    at >= since && events.includes(headers.get('x-gitea-event') ?? '');
  return (await first(`a webhook of ${events}`, () => toAgent.requests.find(isIt))).at;
}

/** The first answer of the forge that says that something is written. */
async function told({ toForge }: ForgeWorld, method: string, path: string, since: number): Promise<PassedRequest> {
  return await first(`${method} ${path}`, () =>
    toForge.requests.find(
      (one) => one.at >= since && one.method === method && one.path.includes(path) && isDone(one.status),
    ),
  );
}

async function statusOf(
  { toForge }: ForgeWorld,
  commit: string,
  state: string,
  since: number,
  suffix = '',
): Promise<PassedRequest> {
  const says = [`"state":"${state}"`, `"context":"espalier/bench${suffix}"`];
  const isIt = ({ at, path, body, status }: PassedRequest): boolean =>
    at >= since && path.endsWith(`/statuses/${commit}`) && isDone(status) && says.every((part) => body.includes(part));
  return await first(`${state} at ${commit}`, () => toForge.requests.find(isIt));
}

function isDone(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Looks often, at what is in memory: the times are those that the proxies took. */
async function first<T>(what: string, find: () => T | undefined): Promise<T> {
  const until = performance.now() + TIMEOUT_MS;
  for (;;) {
    const found = find();
    if (found !== undefined) return found;
    if (performance.now() > until) throw new Error(`${what} did not come`);
    await sleep(5);
  }
}

/** When the Deployment of a plugin is next healthy after a change of its declaration, by a watch of the benchmark's own. */
async function healthyAgain({ client, namespace }: ForgeWorld, name: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  let generation: number | undefined;
  const watch = watchObjects(
    client,
    { apiVersion: 'apps/v1', kind: 'Deployment', namespace, fieldSelector: `metadata.name=${name}` },
    {
      onEvent(_type, live) {
        generation ??= live.metadata.generation ?? 0;
        const isNew = (live.metadata.generation ?? 0) > generation;
        if (isNew && healthOf(live).state === 'healthy') resolve(performance.now());
      },
    },
  );
  const at = await promise;
  await watch.stop();
  return at;
}

async function renderings({ agent }: ForgeWorld): Promise<number> {
  const text = await (await fetch(`${agent.url}/metrics`)).text();
  const counts = [...text.matchAll(/^espalier_render_duration_seconds_count\{.*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
