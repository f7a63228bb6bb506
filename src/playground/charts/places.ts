import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type PackagedChart, packageChart, readChartFolder } from './package.ts';
import { startRegistry } from './registry.ts';
import { startChartRepository } from './repository.ts';

/** Where the charts of a playground are: each in a repository and in a registry. */
export interface ChartPlaces {
  /** `http://127.0.0.1:40124` */
  repository: string;
  /** `oci://127.0.0.1:20125/charts` */
  registry: string;
  charts: readonly string[];
  /** Resolves when the registry ended though nobody stopped it. */
  broken: Promise<string>;
  stop(): Promise<void>;
}

/** The addresses that a seed may name, in place of those that nobody knows before the start. */
export const STAND_INS = { repository: 'https://charts.example.com', registry: 'oci://registry.example.com/charts' };

/** Packages every chart in a folder of charts, and serves it in both ways. */
export async function serveCharts(folder: string, root: string, signal?: AbortSignal): Promise<ChartPlaces> {
  const names = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const charts: PackagedChart[] = await Promise.all(
    names.map(async ({ name }) => packageChart(await readChartFolder(join(folder, name)))),
  );
  const repository = await startChartRepository();
  repository.add(...charts);
  try {
    const registry = await startRegistry({ root, ...(signal === undefined ? {} : { signal }) });
    let isOver = false;
    try {
      for (const chart of charts) await registry.push(chart);
    } catch (error) {
      await registry.stop();
      throw error;
    }
    return {
      repository: repository.url,
      registry: `oci://${registry.host}/charts`,
      charts: charts.map(({ name, version }) => `${name} ${version}`),
      broken: registry.exited.then(() => (isOver ? new Promise<never>(() => {}) : 'the registry')),
      async stop() {
        isOver = true;
        await Promise.all([registry.stop(), repository.stop()]);
      },
    };
  } catch (error) {
    await repository.stop();
    throw error;
  }
}
