import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { healthOf } from '../src/cluster/health.ts';
import type { PackagedChart } from '../src/playground/charts/package.ts';
import { privateHome } from '../src/playground/charts/registry.ts';
import { runProgram } from '../src/tools/run.ts';
import type { World } from './world.ts';

const TIMEOUT_MS = 120_000;
const ASK_EVERY_MS = 50;

/** The program as a pipeline runs it: one `helm upgrade --install` for each release, its chart a file on disk. */
export interface PlainReleases {
  /** Milliseconds until all of them are installed and healthy, so many at a time. */
  install(names: readonly string[], atOnce: number): Promise<number>;
}

export async function plainReleases(
  { client, kubeconfig }: World,
  chart: PackagedChart,
  dir: string,
  helm: string,
): Promise<PlainReleases> {
  const namespace = `plain-${randomBytes(4).toString('hex')}`;
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const file = join(dir, chart.file);
  await writeFile(file, chart.bytes);
  const home = join(dir, 'home');
  await mkdir(home, { recursive: true });

  async function one(name: string): Promise<void> {
    const args = ['upgrade', '--install', name, file, '--kubeconfig', kubeconfig, '-n', namespace];
    const { code, stderr } = await runProgram(helm, { args, env: privateHome(home), timeoutMs: TIMEOUT_MS });
    if (code !== 0) throw new Error(`helm ended with ${code}: ${stderr}`);
  }

  async function areHealthy(names: readonly string[]): Promise<boolean> {
    const { items } = await client.list({ apiVersion: 'apps/v1', kind: 'Deployment', namespace });
    const healthy = new Set(
      items.filter((item) => healthOf(item).state === 'healthy').map((item) => item.metadata.name),
    );
    return names.every((name) => healthy.has(name));
  }

  return {
    async install(names, atOnce) {
      const started = performance.now();
      const left = [...names];
      const worker = async (): Promise<void> => {
        for (let name = left.shift(); name !== undefined; name = left.shift()) await one(name);
      };
      await Promise.all(Array.from({ length: atOnce }, worker));
      while (!(await areHealthy(names))) await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
      return performance.now() - started;
    },
  };
}
