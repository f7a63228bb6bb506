import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { API_VERSION } from '../../../src/api/index.ts';
import type { KubeClient } from '../../../src/cluster/client.ts';
import { startPlatform, yaml } from '../../cases/support/platform.ts';
import {
  type ChartFiles,
  chartAt,
  packageChart,
  startChartServer,
  startTestRegistry,
  writeChart,
} from '../../support/charts.ts';
import { testClient, testNamespace } from '../../support/cluster.ts';
import { uniqueName } from '../../support/names.ts';
import { tempDir } from '../../support/tempdir.ts';
import type { Fixture, Step } from '../charts/fixture.ts';
import { ANY } from './difference.ts';
import { type PlainHelm, plainHelm } from './helm.ts';
import { helmState } from './helm-state.ts';
import { liveState, type Place } from './live-state.ts';
import { type HookTrace, traceHooks } from './trace.ts';

/** One way of installing a fixture, in a namespace of its own. */
export interface Side {
  place: Place;
  helm: PlainHelm;
  /** Installs, or upgrades to, a state of the release; resolves when it is there. */
  take(step: Step): Promise<void>;
  uninstall(): Promise<void>;
  /** Everything that can be asked about it now, and the hooks since the last time. */
  state(): Promise<Record<string, unknown>>;
}

type Ways = Pick<Side, 'take' | 'uninstall'>;

/** `helm upgrade --install`, as a person or a pipeline does it. */
export async function plainSide(t: TestContext, fixture: Fixture): Promise<Side> {
  const client = testClient();
  const place = { namespace: await testNamespace(t, { prefix: 'plain' }), group: groupName() };
  await putBeside(client, fixture, place.namespace);
  const helm = await plainHelm(t, place.namespace);
  const ways: Ways = {
    async take({ chart, values = {} }) {
      const path = await chartOnDisk(t, fixture, chart);
      const file = join(await tempDir(t), 'values.json');
      await writeFile(file, JSON.stringify(values));
      await helm('upgrade', '--install', fixture.name, path, '-f', file, '--timeout', '60s');
    },
    async uninstall() {
      await helm('uninstall', fixture.name, '--timeout', '60s');
    },
  };
  return sideOf(client, fixture, place, helm, await traceHooks(t, client, place.namespace), ways);
}

/** A Plugin of kind helm, its chart from where the fixture says. */
export async function agentSide(t: TestContext, fixture: Fixture): Promise<Side> {
  const supply = await supplyFor(t, fixture);
  const platform = await startPlatform(t, {
    prefix: 'agent',
    files: { 'README.md': 'nothing yet' },
    spec: { prune: { hold: { percent: 100 } } },
    prepare: (client, namespace) => putBeside(client, fixture, namespace),
  });
  const place = { namespace: platform.namespace, group: groupName() };
  const trace = await traceHooks(t, platform.client, platform.namespace);
  const declaration = `plugins/${fixture.name}.yaml`;
  const ways: Ways = {
    async take(step) {
      const { source, files } = await supply(step);
      const spec = { kind: 'helm', source, values: step.values ?? {}, timeout: '1m', ...fixture.spec };
      const plugin = { apiVersion: API_VERSION, kind: 'Plugin', metadata: { name: fixture.name }, spec };
      await platform.push({ ...files, [declaration]: yaml(plugin) });
      await platform.settles();
    },
    async uninstall() {
      await platform.push({ [declaration]: null });
      await platform.isGone('Plugin', fixture.name, API_VERSION);
      await platform.settles();
    },
  };
  const helm = await plainHelm(t, platform.namespace);
  return sideOf(platform.client, fixture, place, helm, trace, ways);
}

function sideOf(
  client: KubeClient,
  { name, random = [] }: Fixture,
  place: Place,
  helm: PlainHelm,
  trace: HookTrace,
  ways: Ways,
): Side {
  return {
    place,
    helm,
    ...ways,
    async state() {
      const hooks = await trace.take();
      const [objects, release] = await Promise.all([liveState(client, place), helmState(helm, name, place)]);
      forget(objects, random);
      forget(release.manifest, random);
      return { hooks, objects, release };
    },
  };
}

/** Serves the chart of a step from where the fixture says; the answer is the source, and files for the repository. */
async function supplyFor(t: TestContext, { source, name }: Fixture) {
  if (source === 'git') {
    return async ({ chart }: Step) => ({
      source: { git: { path: `charts/${name}` } },
      files: chartAt(`charts/${name}`, chart),
    });
  }
  if (source === 'repository') {
    const server = await startChartServer(t);
    return async ({ chart }: Step) => {
      const packaged = packageChart(chart);
      server.add(packaged);
      return { source: { chart: { repository: server.url, name, version: packaged.version } }, files: {} };
    };
  }
  const registry = await startTestRegistry(t);
  return async ({ chart }: Step) => {
    const packaged = packageChart(chart);
    const url = await registry.push(packaged);
    return { source: { oci: { url, version: packaged.version } }, files: {} };
  };
}

async function putBeside(client: KubeClient, { beside = [] }: Fixture, namespace: string): Promise<void> {
  for (const text of beside) {
    const object = JSON.parse(text);
    await client.create({ ...object, metadata: { ...object.metadata, namespace } });
  }
}

function forget(objects: unknown, random: readonly string[]): void {
  for (const one of random) {
    const [, name = '', path = ''] = /^(\S+ \S+) \/(.*)$/.exec(one) ?? [];
    let at = (objects as Record<string, unknown> | undefined)?.[name] as Record<string, unknown> | undefined;
    const keys = path.split('/');
    const last = keys.pop() ?? '';
    for (const key of keys) at = at?.[key] as Record<string, unknown> | undefined;
    if (at?.[last] !== undefined) at[last] = ANY;
  }
}

/** In the form in which the agent gets it: what is in an archive was not left out of it by a `.helmignore`. */
async function chartOnDisk(t: TestContext, { source }: Fixture, chart: ChartFiles): Promise<string> {
  if (source === 'git') return await writeChart(t, chart);
  const { file, bytes } = packageChart(chart);
  const path = join(await tempDir(t), file);
  await writeFile(path, bytes);
  return path;
}

function groupName(): string {
  return `${uniqueName('g')}.example.com`;
}
