import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type KubeClient } from '../src/cluster/client.ts';
import { startControlPlane } from '../src/playground/controlplane.ts';
import { runProgram } from '../src/tools/run.ts';
import { toolPath } from '../src/tools/tool.ts';
import { type Bare, createBare, rate } from './bare.ts';

export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** How many times as fast as what the name ends with. */
  ratio?: number;
}

const AT_ONCE = 32;
const ROUNDS = 4;
const OBJECTS = 1_000;
/** kubectl is slower: it gets less of the same work. */
const KUBECTL_OBJECTS = 100;

interface Bench {
  client: KubeClient;
  bare: Bare;
  namespace: string;
  kubectl(args: string[], input?: string): Promise<number>;
}

/** The client's requests a second beside a bare undici loop's and kubectl's, all in one run on one control plane. */
export async function main(): Promise<Figure[]> {
  const given = process.env.ESPALIER_TEST_KUBECONFIG;
  const plane = given === undefined ? await startControlPlane({ progress: console.error }) : undefined;
  const kubeconfig = given ?? plane?.kubeconfigPath ?? '';
  const client = createClient({ kubeconfig });
  const bare = await createBare(kubeconfig, AT_ONCE);
  const namespace = `bench-${randomBytes(4).toString('hex')}`;
  const program = await toolPath('kubectl');
  const cache = await mkdtemp(join(tmpdir(), 'bench-'));
  const bench: Bench = {
    client,
    bare,
    namespace,
    async kubectl(args, input) {
      const ran = await runProgram(program, {
        args: ['--kubeconfig', kubeconfig, '--cache-dir', cache, '-n', namespace, ...args],
        timeoutMs: 120_000,
        maxOutputBytes: 256 * 1024 * 1024,
        ...(input === undefined ? {} : { input }),
      });
      if (ran.code !== 0) throw new Error(ran.stderr);
      return ran.ms;
    },
  };
  try {
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const figures = [...(await applies(bench)), ...(await gets(bench)), ...(await watches(bench))];
    print(figures);
    return figures;
  } finally {
    await client.delete({ apiVersion: 'v1', kind: 'Namespace', name: namespace });
    await Promise.all([client.close(), bare.close(), rm(cache, { recursive: true })]);
    await plane?.stop();
  }
}

async function applies({ client, bare, namespace, kubectl }: Bench): Promise<Figure[]> {
  const ours = (n: number) => client.apply(configMap(namespace, n), { fieldManager: 'bench', force: true });
  const theirs = (n: number) => bare.apply(pathOf(namespace, n), configMap(namespace, n));
  const [mine, loop] = await alternate(
    () => rate(OBJECTS, AT_ONCE, ours),
    () => rate(OBJECTS, AT_ONCE, theirs),
  );
  const input = Array.from({ length: KUBECTL_OBJECTS }, (_, n) => JSON.stringify(configMap(namespace, n))).join(
    '\n---\n',
  );
  const args = ['apply', '--server-side', '--force-conflicts', '--field-manager', 'bench', '-f', '-'];
  return compare('apply', mine, loop, KUBECTL_OBJECTS / ((await kubectl(args, input)) / 1000));
}

async function gets({ client, bare, namespace, kubectl }: Bench): Promise<Figure[]> {
  const ref = (n: number) => ({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: nameOf(n) });
  const [mine, loop] = await alternate(
    () => rate(2 * OBJECTS, AT_ONCE, (n) => client.get(ref(n % OBJECTS))),
    () => rate(2 * OBJECTS, AT_ONCE, (n) => bare.get(pathOf(namespace, n % OBJECTS))),
  );
  const names = Array.from({ length: KUBECTL_OBJECTS }, (_, n) => nameOf(n));
  return compare(
    'get',
    mine,
    loop,
    KUBECTL_OBJECTS / ((await kubectl(['get', 'configmap', '-o', 'json', ...names])) / 1000),
  );
}

/** Changes are made first, and then read back from where the log stood before: what counts is receiving. */
async function watches({ client, bare, namespace, kubectl }: Bench): Promise<Figure[]> {
  const target = { apiVersion: 'v1', kind: 'ConfigMap', namespace };
  const { resourceVersion } = await client.list({ ...target, metadataOnly: true });
  const changes = 3 * OBJECTS;
  await rate(changes, AT_ONCE, (n) =>
    client.apply(configMap(namespace, n % OBJECTS), { fieldManager: 'bench', force: true }),
  );
  const path = `/api/v1/namespaces/${namespace}/configmaps?watch=1&resourceVersion=${resourceVersion}`;
  const [mine, loop] = await alternate(
    () => perSecond(changes, () => receive(client, target, resourceVersion, changes)),
    () => perSecond(changes, () => bare.watch(path, changes)),
  );
  // It ends with its time: the second that it is given is taken off.
  const ms = await kubectl(['get', '--raw', `${path}&timeoutSeconds=1`]);
  return compare('watch event', mine, loop, changes / (Math.max(50, ms - 1_000) / 1000));
}

async function receive(
  client: KubeClient,
  target: { apiVersion: string; kind: string; namespace: string },
  resourceVersion: string,
  count: number,
): Promise<void> {
  const enough = new AbortController();
  let seen = 0;
  const onLine = ({ type }: { type: string }) => {
    if (type === 'MODIFIED' && ++seen === count) enough.abort();
  };
  await client.watchOnce(target, { resourceVersion, signal: enough.signal, onLine }).catch(() => {});
}

/** Both in turns, so that neither has the warmer server; the best round of each. */
async function alternate(mine: () => Promise<number>, theirs: () => Promise<number>): Promise<[number, number]> {
  const best: [number, number] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    best[0] = Math.max(best[0], await mine());
    best[1] = Math.max(best[1], await theirs());
  }
  return best;
}

async function perSecond(count: number, work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return count / ((performance.now() - started) / 1000);
}

function compare(name: string, mine: number, loop: number, kubectl: number): Figure[] {
  return [
    { name: `${name}, client`, value: mine, unit: '/s' },
    { name: `${name}, bare undici loop`, value: loop, unit: '/s', ratio: mine / loop },
    { name: `${name}, kubectl`, value: kubectl, unit: '/s', ratio: mine / kubectl },
  ];
}

function print(figures: Figure[]): void {
  console.log(`${'requests a second'.padEnd(36)}${''.padStart(10)}   client is`);
  for (const { name, value, unit, ratio } of figures) {
    const times = ratio === undefined ? '' : `${ratio.toFixed(2)} times as fast`;
    console.log(`${name.padEnd(36)}${`${Math.round(value)} ${unit}`.padStart(10)}   ${times}`.trimEnd());
  }
}

function configMap(namespace: string, n: number) {
  const data = { changed: randomBytes(8).toString('hex'), text: 'x'.repeat(300) };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: nameOf(n), namespace }, data };
}

function nameOf(n: number): string {
  return `object-${n}`;
}

function pathOf(namespace: string, n: number): string {
  return `/api/v1/namespaces/${namespace}/configmaps/${nameOf(n)}`;
}

if (import.meta.main) await main();
