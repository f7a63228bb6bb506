import { isError } from '../api/index.ts';
import { inspectBytes } from '../charts/inspect.ts';
import { DEFAULT_LIMITS } from '../charts/limits.ts';
import { Remembered } from '../charts/remembered.ts';
import { faultOf, type PackageFault } from './fault.ts';
import { EXPANSION_FILE, type Expansion, readExpansion } from './format.ts';
import { whyNoScript } from './hook-text.ts';
import type { PackageFiles } from './package-files.ts';
import { type Contents, HOOKS, verifyPackage } from './verify.ts';

export type HookName = (typeof HOOKS)[number];

export interface PackageChart {
  /** Its archive, from the top of the package. */
  file: string;
  name: string;
  version: string;
  app?: string;
}

export interface PackageHook {
  path: string;
  script: Uint8Array;
  /** A Go template, to be filled with the values. */
  isTemplate: boolean;
}

/** What of a package a cluster needs. Of a wrong one, what there is. */
export interface ReadPackage {
  id: string;
  expansion: Expansion;
  charts: readonly PackageChart[];
  hooks: ReadonlyMap<HookName, PackageHook>;
  faults: readonly PackageFault[];
  /** Where an item of a list in `expansion.yaml`, or a field, stands. */
  at(field: string, index?: number): { line: number; column: number };
}

const LARGEST_TEXT = 1024 * 1024;

/** Scripts mostly: a few hundred bytes each. The same id is the same content for ever. */
const known = new Remembered<ReadPackage>(16, () => 0);

/** Everything in a package but its images, and all that is wrong with it. The same content is read once. */
export async function readPackage(files: PackageFiles): Promise<ReadPackage> {
  const before = known.get(files.id);
  if (before !== undefined) return before;
  const found = await read(files);
  known.set(files.id, found, 1);
  return found;
}

async function read(files: PackageFiles): Promise<ReadPackage> {
  const faults: PackageFault[] = [...(files.faults ?? [])];
  const text = await small(files, EXPANSION_FILE, faults);
  const found = readExpansion(text ?? '{}');
  const { expansion, at } = found;
  const charts: PackageChart[] = [];
  for (const [index, name] of expansion.charts.entries()) {
    const chart = await chartOf(files, `charts/${name}`, faults);
    const twin = charts.find((one) => one.name === chart?.name);
    if (chart !== undefined) charts.push(chart);
    if (chart === undefined || twin === undefined) continue;
    const message = `charts: ${name} and ${twin.file.slice('charts/'.length)} are both the chart ${chart.name}, and a cluster takes one: remove one`;
    faults.push({ file: EXPANSION_FILE, ...at('charts', index), message });
  }
  const hooks = new Map<HookName, PackageHook>();
  for (const listed of expansion.hooks) {
    const name = HOOKS.find((hook) => listed === hook || listed === `${hook}.tmpl`);
    if (name === undefined) continue;
    const path = `hooks/${listed}`;
    const script = await small(files, path, faults);
    const wrong = script === undefined ? undefined : whyNoScript(script);
    if (wrong !== undefined) faults.push({ ...faultOf(path, wrong.message), line: wrong.line });
    if (script !== undefined) hooks.set(name, { path, script, isTemplate: listed.endsWith('.tmpl') });
  }
  const contents: Contents = {
    text,
    files: new Map(files.paths.map((path) => [path, { size: 0, sha256: '' }])),
    ...{ images: undefined, charts: new Map(), sums: undefined, faults, cutOff: false },
  };
  const verified = verifyPackage(contents, 'images elsewhere');
  return { id: files.id, expansion, charts, hooks, at, faults: verified.faults };
}

async function small(files: PackageFiles, path: string, faults: PackageFault[]): Promise<Uint8Array | undefined> {
  const bytes = await files.read(path);
  if (bytes === undefined || bytes.length <= LARGEST_TEXT) return bytes;
  faults.push(faultOf(path, `has ${bytes.length} bytes; ${LARGEST_TEXT} are allowed: make it smaller`));
  return undefined;
}

async function chartOf(files: PackageFiles, file: string, faults: PackageFault[]): Promise<PackageChart | undefined> {
  if (!/^charts\/[^/]+\.tgz$/.test(file)) return undefined;
  try {
    const bytes = await files.read(file);
    if (bytes === undefined) return undefined;
    const { name, version, appVersion } = (await inspectBytes(bytes, DEFAULT_LIMITS)).chart;
    return { file, name, version, ...(appVersion === undefined ? {} : { app: appVersion }) };
  } catch (error) {
    if (!isError(error, 'ChartRefused', 'ExpansionInvalid')) throw error;
    faults.push(faultOf(file, `does not load as a chart: ${error.message}`));
    return undefined;
  }
}
