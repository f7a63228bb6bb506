import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { API_VERSION, type KubeObject } from '../../../src/api/index.ts';
import { type Platform, type PlatformOptions, startPlatform, yaml } from '../../cases/support/platform.ts';
import { type ChartFiles, type ChartRepository, packageChart, startChartServer } from '../../support/charts.ts';
import type { NewFile } from '../../support/gitserver.ts';
import { type PlainHelm, plainHelm } from './helm.ts';

/** A platform whose Plugins are charts from a repository beside it, and Helm as a person uses it. */
export interface HelmScene {
  platform: Platform;
  charts: ChartRepository;
  helm: PlainHelm;
  /** Serves the chart and declares a Plugin of its name; does not wait. */
  declare(chart: ChartFiles, spec?: Record<string, unknown>, files?: Record<string, NewFile>): Promise<string>;
  /** The same, and waits until the Sync is ready at that commit. */
  install(chart: ChartFiles, spec?: Record<string, unknown>): Promise<void>;
  /** `1 superseded`, `2 deployed`: as `helm history` shows it. */
  history(name: string): Promise<string[]>;
  /** Records of all releases in the namespace, by name and resourceVersion: the same ones, nothing was written. */
  records(): Promise<string[]>;
}

export type HelmSceneOptions = Omit<PlatformOptions, 'files'> & { files?: Record<string, NewFile> };

export async function startHelmScene(
  t: Pick<TestContext, 'after'>,
  { files = { 'README.md': 'nothing yet' }, ...options }: HelmSceneOptions = {},
): Promise<HelmScene> {
  const charts = await startChartServer(t);
  // One release is all there is: to take it away would be a large removal.
  const spec = { prune: { hold: { percent: 100 } }, ...options.spec };
  const platform = await startPlatform(t, { prefix: 'helm', ...options, files, spec });
  const helm = await plainHelm(t, platform.namespace);

  const scene: HelmScene = {
    platform,
    charts,
    helm,
    async declare(chart, extra = {}, others = {}) {
      const { name, plugin } = serve(charts, chart, extra);
      return await platform.push({ ...others, [`plugins/${name}.yaml`]: plugin });
    },
    async install(chart, extra) {
      await scene.declare(chart, extra);
      await platform.settles();
    },
    async history(name) {
      const revisions = await helm.json<{ revision: number; status: string }[]>('history', name);
      return revisions.map(({ revision, status }) => `${revision} ${status}`);
    },
    async records() {
      const target = { apiVersion: 'v1', kind: 'Secret', namespace: platform.namespace, labelSelector: 'owner=helm' };
      const { items } = await platform.client.list({ ...target, metadataOnly: true });
      return items.map(({ metadata: { name, resourceVersion } }) => `${name} ${resourceVersion}`).sort();
    },
  };
  return scene;
}

/** Puts a chart into a repository; the answer is the declaration of a Plugin of its name and exact version. */
export function serve(
  charts: ChartRepository,
  files: ChartFiles,
  spec: Record<string, unknown> = {},
): { name: string; plugin: string } {
  const packaged = packageChart(files);
  charts.add(packaged);
  const { name, version } = packaged;
  const source = { chart: { repository: charts.url, name, version } };
  const whole = { kind: 'helm', source, timeout: '30s', ...spec };
  return { name, plugin: yaml({ apiVersion: API_VERSION, kind: 'Plugin', metadata: { name }, spec: whole }) };
}

export function dataOf(object: KubeObject | undefined): Record<string, string> {
  assert.ok(object, 'there is no such object');
  return (object.data ?? {}) as Record<string, string>;
}
