import { join, relative, resolve } from 'node:path';
import { type ChartCredentials, createCharts } from '../charts/charts.ts';
import { folderTree } from '../git/foldertree.ts';
import { plain } from '../plan/plain.ts';
import { type BuildOptions, type BuiltChart, buildCharts } from '../publish/build-charts.ts';
import { findCharts } from '../publish/find-charts.ts';
import { chartAround } from '../publish/outside-charts.ts';
import { museumShop, registryShop, type Shop } from '../publish/push-chart.ts';
import { openMuseum } from '../registry/museum.ts';
import { openRegistry } from '../registry/registry.ts';
import { REAL_TOOLS } from '../render/render.ts';
import { withScratchFolder } from '../tools/scratch-folder.ts';
import { mustBeFolder, wrong } from './addon-source.ts';
import type { ChartsBuildFlags } from './charts.ts';
import { ExitCode } from './exit.ts';
import { interruptible } from './interruptible.ts';
import { basePlace, wireFor } from './mirror-tools.ts';
import { formatData } from './output.ts';
import { print, say } from './print.ts';
import { repositoryRoot } from './repository-root.ts';

export const CHARTS_BUILD_VERSION = 'espalier.dev/charts-build/v1';

/** Lints, packs and pushes every chart below a folder, and says at the end all that is wrong. */
export async function build(folder: string, flags: ChartsBuildFlags): Promise<void> {
  await mustBeFolder(folder);
  // Dependencies at file:// may be anywhere in the repository.
  const root = (await repositoryRoot(resolve(folder))) ?? resolve(folder);
  const below = relative(root, resolve(folder));
  const found = await findCharts(resolve(folder));
  const paths = found.map((path) => (path === '.' ? below || '.' : join(below, path)));
  const shown = (path: string): string => relative('.', join(root, path)) || '.';
  const destination = flags.destination ?? (flags.to === undefined ? '.' : undefined);
  if (destination !== undefined && flags.dryRun !== true) await demandOutside(destination, root, paths, shown);
  const onResult = (result: BuiltChart): void => {
    if (flags.output === undefined && result.state !== 'failed') print(plain(lineOf(result, shown)));
  };
  const results = await interruptible((signal) => run(paths, root, flags, { shown, onResult, signal, destination }));
  if (flags.output !== undefined) {
    const charts = results.map((one) => ({ ...one, path: shown(one.path) }));
    print(await formatData({ version: CHARTS_BUILD_VERSION, charts }, flags.output));
  }
  for (const { path, warnings } of results)
    for (const warning of warnings) say(plain(`Warning: ${shown(path)}: ${warning}`));
  for (const { path, faults } of results) for (const fault of faults) say(plain(`✗ ${shown(path)}: ${fault}`));
  say(summaryOf(results));
  if (results.some(({ state }) => state === 'failed')) throw new ExitCode(1);
}

/** A chart that holds its own archive is another one with each build. */
async function demandOutside(
  destination: string,
  root: string,
  paths: readonly string[],
  shown: BuildOptions['shown'],
): Promise<void> {
  const around = await chartAround(
    destination,
    paths.map((path) => join(root, path)),
  );
  if (around === undefined) return;
  const what = `${destination === '.' ? 'this folder' : destination} is in the chart ${shown(relative(root, around))}`;
  throw wrong(
    `${what}, which would hold its archive from then on: name a folder outside with -d, or one that its .helmignore leaves out`,
  );
}

async function run(
  paths: readonly string[],
  root: string,
  flags: ChartsBuildFlags,
  options: Pick<BuildOptions, 'shown' | 'onResult' | 'signal' | 'destination'>,
): Promise<BuiltChart[]> {
  return await withScratchFolder('espalier-charts-', async (cacheDir) => {
    const addresses = { privateAddresses: flags.allowPrivate === true };
    const wire = await wireFor(flags);
    const dependencies = { loginFor: (host: string) => credentialsFor(host, wire) };
    const charts = createCharts({ cacheDir, addresses, plainHttp: wire.insecure, dependencies });
    try {
      return await withShop(flags.to, wire, (shop) =>
        buildCharts(paths, {
          ...options,
          tree: folderTree(root),
          charts,
          tools: REAL_TOOLS,
          strict: flags.strict === true,
          shop,
          dryRun: flags.dryRun === true,
          jobs: flags.jobs,
        }),
      );
    } finally {
      await charts.close();
    }
  });
}

type Wire = Awaited<ReturnType<typeof wireFor>>;

/** The names of Docker's own registry that are not the one it is logged in to by. */
const DOCKER_HUB = /^(registry-1|index)\.docker\.io$/;

/** What a host of dependencies gets: the login for it, and where certificates are to be trusted these. */
async function credentialsFor(host: string, { loginFor, ca, insecure }: Wire): Promise<ChartCredentials> {
  const login = await loginFor(host.replace(DOCKER_HUB, 'docker.io'));
  const isPlain = insecure.some((one) => one === host || one === host.replace(/:\d+$/, ''));
  return { ...login, ...(ca === undefined || isPlain ? {} : { ca }) };
}

async function withShop<T>(
  to: string | undefined,
  wire: Wire,
  use: (shop: Shop | undefined) => Promise<T>,
): Promise<T> {
  if (to === undefined) return await use(undefined);
  if (/^oci:/i.test(to)) {
    const base = basePlace(to, '--to');
    const registry = openRegistry(wire);
    return await use(registryShop(registry, base)).finally(() => registry.close());
  }
  const museum = openMuseum(to, wire);
  return await use(museumShop(museum, to)).finally(() => museum.close());
}

/** `pushed   web 1.2.0 (charts/web) → oci://registry.example.com/charts/web:1.2.0` */
function lineOf(
  { state, name, version, path, archive, to, ...rest }: BuiltChart,
  shown: (path: string) => string,
): string {
  const where = to ?? archive;
  const given = rest.class === undefined ? '' : ` [${rest.class}]`;
  return `${state.padEnd(7)} ${name} ${version}${given} (${shown(path)})${where === undefined ? '' : ` → ${where}`}`;
}

function summaryOf(results: readonly BuiltChart[]): string {
  const states = ['packed', 'pushed', 'new', 'there', 'failed'] as const;
  const counts = states.flatMap((state) => {
    const count = results.filter((one) => one.state === state).length;
    return count === 0 ? [] : [`${count} ${state}`];
  });
  return counts.length === 0 ? 'no charts here' : counts.join(', ');
}
