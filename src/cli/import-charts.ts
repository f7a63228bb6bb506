import { isError, type Json, type JsonObject } from '../api/index.ts';
import { isChartName, isChartVersion, parseDependencies } from '../charts/chart-yaml.ts';
import { type ChartOrigin, type Charts, createCharts } from '../charts/charts.ts';
import { lockDigest } from '../charts/lock-digest.ts';
import type { RecordedChart } from '../compat/import/record-chart.ts';
import { withScratchFolder } from '../tools/scratch-folder.ts';

/** Which of the charts are in the repositories that a person named: `source` of a Plugin, by `name version`. */
export async function findCharts(
  repositories: readonly string[],
  wanted: readonly { name: string; version: string }[],
): Promise<Map<string, JsonObject>> {
  if (repositories.length === 0) return new Map();
  return await withScratchFolder('espalier-import-', async (cacheDir) => {
    // A person asked for these very addresses.
    const charts = createCharts({ cacheDir, addresses: { http: true, privateAddresses: true } });
    try {
      return await findIn(charts, repositories, wanted);
    } finally {
      await charts.close();
    }
  });
}

async function findIn(
  charts: Charts,
  repositories: readonly string[],
  wanted: readonly { name: string; version: string }[],
): Promise<Map<string, JsonObject>> {
  const found = new Map<string, JsonObject>();
  for (const { name, version } of wanted) {
    const key = `${name} ${version}`;
    if (found.has(key) || !isChartName(name) || !isChartVersion(version)) continue;
    for (const url of repositories) {
      const origin = originOf(url.replace(/\/+$/, ''), name, version);
      const resolved = await charts.resolve({ origin }).catch((error: unknown) => {
        if (!isError(error, 'ChartNotFound')) throw error;
      });
      if (resolved === undefined) continue;
      found.set(key, sourceOf(origin));
      break;
    }
  }
  return found;
}

type Published = Extract<ChartOrigin, { type: 'repository' } | { type: 'oci' }>;

function originOf(url: string, name: string, version: string): Published {
  if (url.startsWith('oci://')) return { type: 'oci', url: `${url}/${name}`, version };
  return { type: 'repository', repository: url, name, version };
}

function sourceOf(origin: Published): JsonObject {
  const { version = '' } = origin;
  if (origin.type === 'oci') return { oci: { url: origin.url, version } };
  return { chart: { repository: origin.repository, name: origin.name, version } };
}

/** Chart.lock for a chart out of a record, so that the charts it is made of are fetched in the versions that it had. */
export function lockFor(
  { dependencies, locked }: RecordedChart,
  printYaml: (value: Json) => string,
): { text: string } | { why: string } {
  const names = new Set(dependencies.map(({ name }) => name));
  const kept = locked.filter(({ name }) => names.has(name));
  for (const { name } of dependencies) {
    const lock = kept.find((one) => one.name === name);
    if (lock === undefined) return { why: `it has no Chart.lock that says which ${name}` };
    if (!/^(https?|oci):\/\//.test(String(lock.repository ?? '')))
      return { why: `${name} is in no repository that anybody else could ask` };
  }
  const digest = lockDigest(parseDependencies(dependencies), parseDependencies(kept));
  return { text: printYaml({ dependencies: kept, digest, generated: '2000-01-01T00:00:00Z' }) };
}
