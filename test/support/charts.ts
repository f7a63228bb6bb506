import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { type ChartFiles, type PackagedChart, packageChart, packed } from '../../src/playground/charts/package.ts';
import { privateHome, type Registry, startRegistry as start } from '../../src/playground/charts/registry.ts';
import {
  type ChartRepository,
  type ChartRepositoryOptions,
  startChartRepository,
} from '../../src/playground/charts/repository.ts';
import { runProgram } from '../../src/tools/run.ts';
import { toolPath } from '../../src/tools/tool.ts';
import { tempDir } from './tempdir.ts';

export { type TarEntry, tarball } from '../../src/playground/charts/tarball.ts';
export { type ChartFiles, type ChartRepository, type PackagedChart, packageChart, packed, type Registry };

/** The user of a registry or repository that asks for one. */
export const CHART_USER = { user: 'reader', password: 'registry-pass' };
/** bcrypt of that password, at the lowest cost there is: it protects nothing. */
const PASSWORD_HASH = '$2b$04$abcdefghijklmnopqrstuuZT9kc9sRod2mthFOG22CtgNrsQZP1VK';

/** What Chart.yaml may say besides name and version. */
export interface ChartFacts {
  version?: string;
  appVersion?: string;
  type?: 'application' | 'library';
  dependencies?: Record<string, unknown>[];
  kubeVersion?: string;
  annotations?: Record<string, string>;
}

/** The files of a chart, with its Chart.yaml written for it: `chart('web', {'templates/cm.yaml': …}, {version: '1.2.3'})`. */
export function chart(name: string, files: ChartFiles, facts: ChartFacts = {}): ChartFiles {
  const metadata = { apiVersion: 'v2', name, version: '1.0.0', ...facts };
  return { 'Chart.yaml': JSON.stringify(metadata, null, 2), ...files };
}

/** The files of a subchart, by their path in the parent: spread it into the parent's. */
export function subchart(name: string, files: ChartFiles, facts: ChartFacts = {}): ChartFiles {
  const entries = Object.entries(chart(name, files, facts));
  return Object.fromEntries(entries.map(([path, content]) => [`charts/${name}/${path}`, content]));
}

/** Files of a chart by their path in a repository, for a Plugin whose source is a folder in Git. */
export function chartAt(folder: string, files: ChartFiles): Record<string, string | Uint8Array> {
  return Object.fromEntries(Object.entries(files).map(([path, content]) => [`${folder}/${path}`, content]));
}

/** Writes a chart to a folder of its own and returns its path. */
export async function writeChart(t: Pick<TestContext, 'after'>, files: ChartFiles): Promise<string> {
  const folder = join(await tempDir(t), 'chart');
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  return folder;
}

/** The same as `packageChart`, but made by Helm itself. */
export async function helmPackage(t: Pick<TestContext, 'after'>, files: ChartFiles): Promise<PackagedChart> {
  const ours = packageChart(files);
  const folder = await writeChart(t, files);
  const destination = await tempDir(t);
  await helm(t, ['package', folder, '--destination', destination]);
  const [file = ''] = await readdir(destination);
  return packed(ours.name, ours.version, await readFile(join(destination, file)), ours.metadata);
}

/** Runs Helm without a cluster, with a home of its own; throws what it complains about. */
async function helm(t: Pick<TestContext, 'after'>, args: string[]): Promise<void> {
  const { code, stderr } = await runProgram(await toolPath('helm'), {
    args,
    env: privateHome(await tempDir(t)),
    timeoutMs: 60_000,
  });
  if (code !== 0) throw new Error(`helm ${args.join(' ')} ended with ${code}: ${stderr}`);
}

/** A chart repository of the test's own, stopped with it. */
export async function startChartServer(
  t: Pick<TestContext, 'after'>,
  options: ChartRepositoryOptions & { charts?: readonly PackagedChart[] } = {},
): Promise<ChartRepository> {
  const server = await startChartRepository(options);
  t.after(() => server.stop());
  server.add(...(options.charts ?? []));
  return server;
}

/** The real registry program on a port of its own. With `auth` only CHART_USER may read and write. */
export async function startTestRegistry(
  t: Pick<TestContext, 'after'>,
  { auth = false }: { auth?: boolean } = {},
): Promise<Registry> {
  const credential = { ...CHART_USER, hash: PASSWORD_HASH };
  const registry = await start({ root: await tempDir(t), ...(auth ? { credential } : {}) });
  t.after(() => registry.stop());
  return registry;
}

/** `helm push`; the answer is the `oci://` address of the chart. */
export function pushChart(registry: Registry, pushed: PackagedChart, folder?: string): Promise<string> {
  return registry.push(pushed, folder);
}
