import { chmod, copyFile, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { EspalierError, LABEL, messageOf } from '../api/index.ts';
import type { Charts } from '../charts/charts.ts';
import { loadText, mapIn, textIn } from '../charts/text-yaml.ts';
import { type FileTree, joinPath } from '../git/tree.ts';
import type { RenderTools } from '../render/contained.ts';
import { type LintMessage, lintChart } from './lint.ts';
import type { PackedChart, Shop } from './push-chart.ts';

export interface BuildOptions {
  /** Where the paths of charts begin, and how far their dependencies may reach. */
  tree: FileTree;
  charts: Charts;
  tools: RenderTools;
  /** Warnings of the lint are faults too. */
  strict: boolean;
  /** Where archives are written; undefined: nowhere. */
  destination: string | undefined;
  shop: Shop | undefined;
  dryRun: boolean;
  jobs: number;
  /** A path of the tree as people see it. */
  shown(path: string): string;
  signal: AbortSignal;
  onResult(result: BuiltChart): void;
}

export interface BuiltChart {
  path: string;
  name?: string;
  version?: string;
  /** What Chart.yaml says in the annotation espalier.dev/class. */
  class?: string;
  /** `sha256:…` of the archive. */
  digest?: string;
  archive?: string;
  to?: string;
  state: 'packed' | 'pushed' | 'there' | 'new' | 'failed';
  /** Why it failed, every reason. */
  faults: string[];
  warnings: string[];
}

interface Packed extends BuiltChart {
  chart?: PackedChart;
}

/**
 * Packs and lints every chart, then pushes those that are sound. One that fails stops no other. The same content gives the
 * same archive, with the dependencies that Chart.lock names.
 */
export async function buildCharts(paths: readonly string[], options: BuildOptions): Promise<BuiltChart[]> {
  const packed = await inParallel(paths, options, (path) => packChart(path, options));
  refuseTwins(packed, options.shown);
  const tell = inOrder(options.onResult);
  const results = await inParallel(packed, options, async (one, index): Promise<BuiltChart> => {
    const { chart, ...result } = one;
    const done = chart === undefined || one.state === 'failed' ? result : await deliver(result, chart, options);
    tell(index, done);
    return done;
  });
  options.signal.throwIfAborted();
  return results;
}

async function packChart(path: string, { tree, charts, tools, strict, shown, signal }: BuildOptions): Promise<Packed> {
  const result: Packed = { path, state: 'packed', faults: [], warnings: [] };
  try {
    const request = { origin: { type: 'git', tree, path } } as const;
    const chart = await charts.fetch(request, await charts.resolve(request, { signal }), signal);
    const { name, version, digest } = chart;
    const found = await classOf(tree, path);
    Object.assign(result, { name, version, digest, ...(found === undefined ? {} : { class: found }) });
    const messages = await lintChart({ name, archive: chart.archive, path: shown(path) }, tools, signal);
    const isFault = ({ severity }: LintMessage) => severity === 'error' || (strict && severity === 'warning');
    result.faults.push(...messages.filter(isFault).map(({ message }) => message));
    result.warnings.push(
      ...messages.flatMap((one) => (one.severity === 'warning' && !isFault(one) ? [one.message] : [])),
    );
    result.chart = chart;
  } catch (error) {
    if (signal.aborted || !(error instanceof EspalierError)) throw error;
    result.faults.push(messageOf(error));
  }
  return result.faults.length === 0 ? result : { ...result, state: 'failed' };
}

async function classOf(tree: FileTree, path: string): Promise<string | undefined> {
  const bytes = await tree.read(joinPath(path === '.' ? '' : path, 'Chart.yaml'));
  return textIn(mapIn(mapIn(loadText(Buffer.from(bytes ?? []).toString('utf8'))).annotations)[LABEL.class]);
}

/** Of two with one name and version whoever comes last would win, or be refused by chance. */
function refuseTwins(packed: Packed[], shown: BuildOptions['shown']): void {
  const groups = Map.groupBy(packed, ({ name, version, path }) => (name === undefined ? path : `${name} ${version}`));
  for (const group of groups.values()) {
    if (group.length < 2) continue;
    for (const one of group) {
      const others = group.filter((other) => other !== one).map(({ path }) => path);
      one.faults.push(
        `${one.name} ${one.version} is also what ${others.map(shown).join(' and ')} makes: rename one, or give it another version`,
      );
      one.state = 'failed';
    }
  }
}

async function deliver(
  result: BuiltChart,
  chart: PackedChart,
  { destination, shop, dryRun, signal }: BuildOptions,
): Promise<BuiltChart> {
  try {
    const done = { ...result };
    if (destination !== undefined && !dryRun) {
      done.archive = join(destination, `${chart.name}-${chart.version}.tgz`);
      await mkdir(destination, { recursive: true });
      const part = `${done.archive}.part-${process.pid}`;
      await copyFile(chart.archive, part);
      await chmod(part, 0o644);
      await rename(part, done.archive);
    }
    if (shop === undefined) return done;
    return { ...done, to: shop.placeOf(chart), state: await shop.put(chart, dryRun, signal) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { ...result, state: 'failed', faults: [messageOf(error)] };
  }
}

/** Tells each as soon as all before it are told. */
function inOrder<T>(tell: (item: T) => void): (index: number, item: T) => void {
  const waiting = new Map<number, T>();
  let next = 0;
  return (index, item) => {
    waiting.set(index, item);
    for (let one = waiting.get(next); one !== undefined; one = waiting.get(next)) {
      waiting.delete(next++);
      tell(one);
    }
  };
}

async function inParallel<T, R>(
  items: readonly T[],
  { jobs, signal }: Pick<BuildOptions, 'jobs' | 'signal'>,
  run: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const left = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of left) {
      signal.throwIfAborted();
      results[index] = await run(item, index);
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return results;
}
