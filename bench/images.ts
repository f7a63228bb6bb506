import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseImage } from '../src/images/name.ts';
import { targetOf } from '../src/images/target.ts';
import { countOf } from '../src/mirror/outcome.ts';
import { runJobs } from '../src/mirror/parallel.ts';
import { mirrorImage } from '../src/mirror/to-registry.ts';
import { openRegistry } from '../src/registry/registry.ts';
import { runProgram } from '../src/tools/run.ts';
import { startRegistry } from '../test/charts/support/registry.ts';
import { pushImage } from '../test/mirror/support/images.ts';
import { runs, writeFiles } from '../test/mirror/support/platform.ts';
import { below, median, plainTable, type Row, seconds } from './figures.ts';

const IMAGES = 100;
const PLUGINS = 200;
const ROUNDS = 5;
const LIMIT_MS = 50;
const ESPALIER = join(import.meta.dirname, '..', 'bin', 'espalier');

/** Mirroring a set that is there already, and listing the images of many plugins. */
export async function main(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-bench-'));
  const [source, target] = await Promise.all([startRegistry(folder), startRegistry(folder)]);
  try {
    const images: string[] = [];
    for (let index = 0; index < IMAGES; index++) {
      const name = `team-${index % 10}/app-${index}:1`;
      images.push((await pushImage(source.host, name, name)).image);
      await pushImage(target.host, `${source.host.replace(':', '-')}/${name}`, name);
    }
    const again: number[] = [];
    for (let round = 0; round < ROUNDS; round++) again.push(await mirrored(images, target.host));
    const few = await writeFiles(join(folder, 'few'), runs('web', ...images));
    const whole = await timed(['images', 'mirror', few, '--offline', '--to', target.host]);
    const many: Record<string, string> = {};
    for (let index = 0; index < PLUGINS; index++)
      Object.assign(many, runs(`p${index}`, `quay.io/team/app-${index}:1`, 'nginx:1'));
    const listing = await timed([
      'images',
      'list',
      await writeFiles(join(folder, 'many'), many),
      '--offline',
      '-o',
      'plain',
    ]);
    const each = median(again) / IMAGES;
    const rows: Row[] = [
      below(`mirror ${IMAGES} images that are there, each`, each, LIMIT_MS, (ms) => `${ms.toFixed(1)} ms`),
      below('the same as a command, each', whole / IMAGES, LIMIT_MS, (ms) => `${ms.toFixed(1)} ms`),
      { what: `list the images of ${PLUGINS} plugins of manifests, as a command`, figure: seconds(listing) },
    ];
    console.log(`${plainTable(rows)}\n`);
    return rows;
  } finally {
    await Promise.all([source.stop(), target.stop()]);
    await rm(folder, { recursive: true, force: true });
  }
}

async function mirrored(images: readonly string[], to: string): Promise<number> {
  const registry = openRegistry({ loginFor: async () => undefined });
  const { signal } = new AbortController();
  const crane = () => Promise.reject(new Error('nothing is to be copied'));
  const jobs = images.map((image) => {
    const target = targetOf({ image, pulled: image }, to);
    if (!('to' in target)) throw new Error(`${image} has no place`);
    const tools = { registry, crane, platform: undefined, dryRun: false, signal };
    const run = (onPart: () => void) => mirrorImage(tools, target.from, target.to, onPart);
    return { kind: 'image' as const, from: image, to: parseImage(image)?.name ?? '', run };
  });
  const started = performance.now();
  const results = await runJobs(jobs, { parallel: 8, signal, onProgress: () => {}, onResult: () => {} });
  const ms = performance.now() - started;
  await registry.close();
  if (countOf(results, 'there') !== images.length) throw new Error('not all of them were there');
  return ms;
}

async function timed(args: string[]): Promise<number> {
  const { PATH = '', HOME = '' } = process.env;
  const { code, ms, stderr } = await runProgram(ESPALIER, { args, env: { PATH, HOME }, timeoutMs: 120_000 });
  if (code !== 0) throw new Error(`espalier ${args.slice(0, 2).join(' ')} ended with ${code}: ${stderr}`);
  return ms;
}
