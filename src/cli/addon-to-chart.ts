import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { chartOf, dependenciesOf, type MadeChart } from '../addons/chart-of.ts';
import { placedFault } from '../addons/fault-place.ts';
import { type Proof, prove } from '../addons/prove.ts';
import { type Addon, type AddonFault, namespaceOf } from '../addons/read-addon.ts';
import { isChartVersion, parseChartYaml } from '../charts/chart-yaml.ts';
import { folderTree } from '../git/foldertree.ts';
import { DEFAULT_RENDER_LIMITS } from '../render/limits.ts';
import { filesBelow, Reader } from '../render/source-files.ts';
import type { AddonFlags } from './addon.ts';
import { endWithFaults, mustBeFolder, openAddon, setsFor, wrong } from './addon-source.ts';
import { ExitCode } from './exit.ts';
import { formatData } from './output.ts';
import { print, say } from './print.ts';
import { repositoryRoot } from './repository-root.ts';

const NOTHING_WRITTEN = `nothing is written: a chart is to render the same. In the add-on write int before a number that is printed otherwise,
and name the parameters where a template reads all of them at once`;

/** Makes a chart of an add-on, or looks at the one that is there; what does not render the same is not written. */
export async function toChart(folder: string, flags: AddonFlags): Promise<void> {
  if (!isChartVersion(flags.chartVersion))
    throw wrong(`--chart-version ${flags.chartVersion}: write a version such as 0.1.0`);
  const addon = await openAddon(folder);
  endWithFaults(folder, addon.faults);
  const output = flags.output ?? join('charts', addon.name);
  if (flags.check !== true) await mustBeFree(output);
  const sets = await setsFor(addon, flags.values ?? []);
  const chart = flags.check === true ? await chartIn(output) : made(folder, addon, flags.chartVersion);
  const { proofs, random } = await prove(addon, chart.files, sets);
  if (tellDifferences(proofs)) {
    say(flags.check === true ? `${output} does not render the same` : NOTHING_WRITTEN);
    throw new ExitCode(1);
  }
  if (proofs.every(({ refused }) => refused !== undefined))
    endWithFaults(folder, proofs.slice(0, 1).map(faultIn(addon)));
  if (flags.check !== true) await write(output, chart, addon);
  for (const note of chart.notes) say(`note: ${join(folder, note)}`);
  for (const place of random) say(`note: ${place} is another each time it is rendered, and is not compared`);
  say(summaryOf(proofs));
}

/** Why an add-on renders with none of the values that it was tried with. */
function faultIn({ files }: Addon): (proof: Proof) => AddonFault {
  return ({ title, refused = '' }) => {
    const fault = placedFault(
      refused,
      files.map(({ name }) => name),
    );
    return { ...fault, message: `${fault.message} (with ${title})` };
  };
}

function made(folder: string, addon: Addon, version: string): MadeChart {
  const chart = chartOf(addon, version);
  if ('files' in chart) return chart;
  for (const fault of chart.faults) print(join(folder, fault));
  say('nothing is written');
  throw new ExitCode(1);
}

async function mustBeFree(output: string): Promise<void> {
  const found = await readdir(output).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error.code === 'ENOTDIR' ? wrong(`${output} is a file; name a folder with -o`) : error;
  });
  if (found.length > 0)
    throw wrong(`${output} is not empty; name another folder with -o, or compare with what is there by --check`);
}

/** A chart that somebody may have gone on with. */
async function chartIn(folder: string): Promise<MadeChart> {
  await mustBeFolder(folder);
  const tree = folderTree(folder);
  const reader = new Reader(tree, DEFAULT_RENDER_LIMITS, undefined);
  const files = new Map<string, Uint8Array>();
  for (const { name, path } of await filesBelow(tree, '', DEFAULT_RENDER_LIMITS))
    files.set(name, await reader.bytes(path));
  const chart = files.get('Chart.yaml');
  if (chart === undefined) throw wrong(`${folder} has no Chart.yaml: it is no chart`);
  parseChartYaml(chart, join(folder, 'Chart.yaml'));
  return { files, notes: [] };
}

/** Whole or not at all. */
async function write(output: string, { files }: MadeChart, addon: Addon): Promise<void> {
  const part = `${output.replace(/\/+$/, '')}.part-${process.pid}`;
  try {
    for (const [path, content] of files) {
      await mkdir(dirname(join(part, path)), { recursive: true });
      await writeFile(join(part, path), content, { flag: 'wx' });
    }
    await rename(part, output);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
  for (const path of files.keys()) print(join(output, path));
  say(
    `In a repository that Espalier follows this Plugin stands for the chart, in place of the add-on:\n\n${await pluginFor(output, addon)}\n`,
  );
}

async function pluginFor(output: string, addon: Addon): Promise<string> {
  const namespace = namespaceOf(addon);
  const { dependsOn } = addon.spec;
  return await formatData(
    {
      apiVersion: 'espalier.dev/v1alpha1',
      kind: 'Plugin',
      metadata: {
        name: addon.name,
        ...(addon.class === undefined ? {} : { labels: { 'espalier.dev/class': addon.class } }),
      },
      spec: {
        kind: 'helm',
        source: { git: { path: await pathInRepository(output, addon.name) } },
        ...(namespace === undefined ? {} : { namespace }),
        ...(dependenciesOf(addon).length === 0 ? {} : { dependsOn }),
      },
    },
    'yaml',
  );
}

/** From the root of the repository that it is in. What is in none is taken to go to the usual place. */
async function pathInRepository(output: string, name: string): Promise<string> {
  const root = await repositoryRoot(resolve(output));
  const path = relative(root ?? '.', resolve(output));
  return path.startsWith('..') ? join('charts', name) : path;
}

/** Each place once, with the values that show it first. */
function tellDifferences(proofs: readonly Proof[]): boolean {
  const told = new Set<string>();
  for (const { title, differences } of proofs)
    for (const { place, text } of differences) if (told.size < told.add(place).size) print(`with ${title}: ${text}`);
  return told.size > 0;
}

function summaryOf(proofs: readonly Proof[]): string {
  const refused = proofs.filter((one) => one.refused !== undefined).length;
  const compared = proofs.length - refused;
  const also = refused === 0 ? '' : `; ${refused} more that both refuse`;
  const objects = Math.max(...proofs.map((one) => one.objects));
  return `the same ${objects} object${objects === 1 ? '' : 's'}, compared with ${compared} set${compared === 1 ? '' : 's'} of parameters${also}`;
}
