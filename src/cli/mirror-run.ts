import { createReadStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import type { ListedImage } from '../images/list.ts';
import { formatImage, parseImage } from '../images/name.ts';
import type { ImageRule } from '../images/rules.ts';
import { rewriteImage } from '../images/rules.ts';
import { shownImage, type Target, targetOf } from '../images/target.ts';
import { archiveImage, restoreImage, rootOf } from '../mirror/archived.ts';
import {
  archivedCharts,
  type ChartContent,
  type ChartSink,
  chartInArchive,
  chartInRegistry,
} from '../mirror/charts.ts';
import { placeOf } from '../mirror/find-source.ts';
import { type Layout, openLayout } from '../mirror/layout.ts';
import { folderFiles, LayoutFolder } from '../mirror/layout-folder.ts';
import { packTar, tarFiles, unpackTar } from '../mirror/layout-tar.ts';
import type { Job } from '../mirror/parallel.ts';
import { mirrorImage } from '../mirror/to-registry.ts';
import type { ImageSource, SourceChart } from './image-source.ts';
import type { MirrorFlags } from './images-mirror.ts';
import { report } from './mirror-report.ts';
import { type MirrorTools, withMirrorTools } from './mirror-tools.ts';
import { say } from './print.ts';
import { readSettings } from './settings-file.ts';

/** Images and charts of a source, to a registry or into an archive. True when all of them are there. */
export async function mirrorSource(source: ImageSource, flags: MirrorFlags, signal: AbortSignal): Promise<boolean> {
  const { list } = source;
  for (const fault of list.faults) say(`✗ ${fault}`);
  const isWhole = await withMirrorTools(flags, signal, async (tools) => {
    if (flags.toArchive !== undefined) return await intoArchive(source, flags.toArchive, flags, tools);
    const { jobs, rules } = imageJobs(list.images, flags, (target, onPart) =>
      mirrorImage({ ...tools, platform: flags.platform }, target.from, target.to, onPart),
    );
    const sink = tools.chartSink;
    const charts = sink === undefined ? [] : source.charts.map((chart) => chartJob(chart, sink, tools));
    return await report([...jobs, ...once(charts)], rules, flags, signal);
  });
  return isWhole && list.faults.length === 0;
}

/** All that an archive holds, to a registry. */
export async function mirrorArchive(path: string, flags: MirrorFlags, signal: AbortSignal): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  const layout = await openLayout(found?.isDirectory() === true ? folderFiles(path) : await tarFiles(path));
  const settings = flags.settings === undefined ? undefined : await readSettings(flags.settings);
  try {
    return await withMirrorTools(flags, signal, async (tools) => {
      const images = layout.entries.filter(({ kind }) => kind === 'image');
      const byName = new Map(images.map((entry) => [entry.name, entry]));
      const listed = images.map(({ name, pulled = name }) => {
        return { image: name, pulled: rewriteImage(name, settings?.spec.images.rewrite ?? []) ?? pulled };
      });
      const { jobs, rules } = imageJobs(listed, flags, async (target, onPart) => {
        const entry = byName.get(formatImage(target.from));
        if (entry === undefined) throw new Error(`${formatImage(target.from)} has left the archive`);
        return await restoreImage(tools, layout, entry, target.to, onPart);
      });
      const sink = tools.chartSink;
      return await report(
        [...jobs, ...(sink === undefined ? [] : archivedChartJobs(layout, sink, tools))],
        rules,
        flags,
        signal,
      );
    });
  } finally {
    await layout.close();
  }
}

type Placed = Extract<Target, { to: unknown }>;

/** One job for each place: an image that several Plugins use is copied once. */
function imageJobs(
  images: readonly Pick<ListedImage, 'image' | 'pulled'>[],
  { to }: MirrorFlags,
  run: (target: Placed, onPart: () => void) => ReturnType<Job['run']>,
): { jobs: Job[]; rules: ImageRule[] } {
  const jobs: Job[] = [];
  const rules = new Map<string, ImageRule>();
  for (const one of images) {
    const target = targetOf(one, to);
    if ('own' in target) continue;
    if ('problem' in target) {
      jobs.push(failing(one.image, target.problem));
      continue;
    }
    if (target.unruled !== undefined) rules.set(target.unruled.from, target.unruled);
    if (target.elsewhere !== undefined)
      say(
        `note: the cluster pulls ${one.image} as ${target.elsewhere}, which is another registry than that of --to ${to}`,
      );
    jobs.push({
      ...{ kind: 'image', from: formatImage(target.from), to: shownImage(target.to) },
      run: (onPart) => run(target, onPart),
    });
  }
  return { jobs: once(jobs), rules: [...rules.values()] };
}

function failing(image: string, why: string): Job {
  return { kind: 'image', from: image, to: '-', run: async () => ({ outcome: { state: 'failed', why } }) };
}

function once(jobs: readonly Job[]): Job[] {
  return [...new Map(jobs.map((job) => [`${job.kind} ${job.from} ${job.to}`, job])).values()];
}

function chartJob(chart: SourceChart, sink: ChartSink, tools: MirrorTools): Job {
  const { name, version } = chart;
  return {
    ...{ kind: 'chart', from: `${name} ${version} of ${chart.source}`, to: sink.placeOf(chart) },
    async run() {
      const content = await contentOf(chart, tools);
      return { outcome: await sink.put(content, tools.dryRun), digest: content.root.digest };
    },
  };
}

async function contentOf(chart: SourceChart, { registry, signal }: MirrorTools): Promise<ChartContent> {
  const { id, fetch } = await chart.find();
  if (chart.isOci) {
    const place = placeOf({ name: chart.source.replace(/^oci:\/\//i, '').replace(/\/+$/, '') });
    return await chartInRegistry(registry, place, { ...chart, digest: id }, signal);
  }
  const { archive, ...facts } = await fetch();
  return chartInArchive(facts, () => createReadStream(archive));
}

function archivedChartJobs(layout: Layout, sink: ChartSink, { dryRun }: MirrorTools): Job[] {
  return layout.entries.flatMap((entry): Job[] => {
    const { chart } = entry;
    if (entry.kind !== 'chart' || chart === undefined) return [];
    const run: Job['run'] = async () => {
      const root = await rootOf(layout, entry);
      return { outcome: await sink.put({ ...chart, root, from: layout }, dryRun), digest: root.digest };
    };
    return [{ kind: 'chart', from: entry.name, to: sink.placeOf(chart), run }];
  });
}

/** A tar is packed once all of it is there; until then the folder beside it is where the next run goes on. */
async function intoArchive(
  source: ImageSource,
  path: string,
  flags: MirrorFlags,
  tools: MirrorTools,
): Promise<boolean> {
  const isTar = path.endsWith('.tar');
  const folder = isTar ? `${path}.parts` : path;
  if (isTar && !(await exists(folder)) && (await exists(path))) {
    await mkdir(folder);
    await unpackTar(path, folder);
  }
  const layout = await LayoutFolder.open(folder);
  const images = source.list.images.map(({ image, pulled }): Job => {
    const from = parseImage(image);
    if (from === undefined) return failing(image, `"${image}" is no name of an image`);
    return {
      ...{ kind: 'image', from: formatImage(from), to: path },
      run: (onPart) => archiveImage({ ...tools, platform: flags.platform }, layout, { from, pulled }, onPart),
    };
  });
  const charts = flags.charts === undefined ? [] : source.charts;
  const sink = archivedCharts(layout, path);
  const jobs = [...images, ...charts.map((chart) => chartJob(chart, sink, tools))];
  const isWhole = await report(once(jobs), [], flags, tools.signal);
  if (!isTar || tools.dryRun) return isWhole;
  if (isWhole) {
    await packTar(folder, path);
    await rm(folder, { recursive: true });
  } else say(`note: ${path} is written once all of it is there; what is there is in ${folder}`);
  return isWhole;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
