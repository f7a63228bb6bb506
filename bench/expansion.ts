import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { tarHeader } from '../src/charts/tar-write.ts';
import { editsDiff } from '../src/expansion/edits-diff.ts';
import { mergeInto } from '../src/expansion/merge.ts';
import { writeFiles } from '../test/mirror/support/platform.ts';
import { below, median, plainTable, type Row, seconds, times } from './figures.ts';
import { measured } from './measured.ts';

const ESPALIER = join(import.meta.dirname, '..', 'bin', 'espalier');
const ARCHIVE_BYTES = 2 * 1024 ** 3;
const LIMIT_MB = 100;
const LIMIT_RATIO = 2;
const TKE_BYTES = 10 * 1024 ** 2;
const LIMIT_MS = 300;
const ROUNDS = 5;

/** The check of a package with a large image archive, and a merge into a large file. */
export async function main(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-bench-'));
  try {
    const rows = [...(await checks(folder)), ...(await merges(folder))];
    console.log(`${plainTable(rows)}\n`);
    return rows;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function checks(folder: string): Promise<Row[]> {
  const demo = await writeFiles(join(folder, 'demo'), {
    'expansion.yaml': 'expansion_name: demo\nexpansion_version: v1.0\nimages: ["demo/large:1"]\n',
  });
  const [images, tgz] = [join(demo, 'images.tar.gz'), join(folder, 'demo.tgz')];
  const raw = await writeArchive(images, folder);
  const built = await measured(ESPALIER, ['expansion', 'build', demo, '-o', tgz]);
  // What tar lists of both: of the .tgz it would not look into the image archive.
  const inner = await measured('tar', ['-tzf', images]);
  const outer = await measured('tar', ['-tzf', tgz]);
  const check = (path: string) => measured(ESPALIER, ['expansion', 'check', path]);
  // The first start fills the compile cache.
  await check(await writeFiles(join(folder, 'first'), { 'expansion.yaml': 'values: {}\n' }));
  const [inFolder, inTgz] = [await check(demo), await check(tgz)];
  const megabytes = (value: number) => `${value.toFixed(0)} MB`;
  return [
    { what: 'tar -tzf of a 2 GB images.tar.gz', figure: `${seconds(inner.cpuMs)} of CPU, ${seconds(inner.ms)}` },
    { what: 'it holds, unpacked', figure: `${(raw / 1024 ** 3).toFixed(1)} GB` },
    ...[
      { what: 'check of a folder with it', check: inFolder, tar: inner.cpuMs },
      { what: 'check of a .tgz with it', check: inTgz, tar: inner.cpuMs + outer.cpuMs },
    ].flatMap(({ what, check: { ms, cpuMs, megabytes: most }, tar }): Row[] => [
      { what, figure: `${seconds(cpuMs)} of CPU, ${seconds(ms)}` },
      below(`${what}: memory at most`, most, LIMIT_MB, megabytes),
      below(`${what}: CPU beside tar -tzf of as much`, cpuMs / tar, LIMIT_RATIO, times),
    ]),
    { what: 'build of it: memory at most', figure: megabytes(built.megabytes) },
  ];
}

/** As `docker save … | gzip` writes it, of layers that compress as programs do: this Node, over and over. */
async function writeArchive(file: string, scratch: string): Promise<number> {
  const packed = join(scratch, 'layer.gz');
  const layer = { sum: createHash('sha256'), bytes: 0 };
  const counted = async function* (source: AsyncIterable<Buffer>) {
    for await (const part of source) {
      layer.sum.update(part);
      layer.bytes += part.length;
      yield part;
    }
  };
  await pipeline(createReadStream(process.execPath), counted, createGzip({ level: 6 }), createWriteStream(packed));
  const sum = `sha256:${layer.sum.digest('hex')}`;
  const out = await open(file, 'w');
  const paths: string[] = [];
  let raw = 0;
  // One gzip after another is a gzip too, and the same layer need not be packed again.
  const head = async (...parts: Buffer[]) => void (await out.write(gzipSync(Buffer.concat(parts))));
  const pad = (bytes: number) => Buffer.alloc((512 - (bytes % 512)) % 512);
  while ((await out.stat()).size < ARCHIVE_BYTES) {
    const path = `${String(paths.length).padStart(64, '0')}/layer.tar`;
    paths.push(path);
    await head(tarHeader(path, layer.bytes, '0'));
    for await (const part of createReadStream(packed)) await out.write(part);
    await head(pad(layer.bytes));
    raw += layer.bytes;
  }
  const config = Buffer.from(JSON.stringify({ rootfs: { type: 'layers', diff_ids: paths.map(() => sum) } }));
  const index = Buffer.from(JSON.stringify([{ Config: 'config.json', RepoTags: ['demo/large:1'], Layers: paths }]));
  for (const [path, data] of [['config.json', config] as const, ['manifest.json', index] as const])
    await head(tarHeader(path, data.length, '0'), data, pad(data.length));
  await head(Buffer.alloc(1024));
  await out.close();
  return raw;
}

async function merges(folder: string): Promise<Row[]> {
  const machines: object[] = [];
  const base = { config: { skipSteps: ['Load images'] }, cluster: { spec: { machines, features: {} } } };
  for (let index = 0; machines.length * 165 < TKE_BYTES; index++)
    machines.push({
      ip: `10.0.${index >> 8}.${index & 255}`,
      port: 22,
      username: 'root',
      labels: { zone: `z${index}` },
    });
  const text = `${JSON.stringify(base, null, 2)}\n`;
  const into = join(folder, 'tke.json');
  await writeFile(into, text);
  const wanted = {
    skipSteps: ['Push images'],
    skipConditions: ['EnsureDocker'],
    delegateConditions: ['EnsureKubelet'],
    files: [{ src: '/opt/data/files/demo.conf', dst: '/demo.conf' }],
  };
  const merged: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    const result = mergeInto(text, wanted);
    if ('faults' in result) throw new Error('the file has faults');
    editsDiff('tke.json', text, result.edits);
    const { user, system } = process.cpuUsage(before);
    merged.push((user + system) / 1000);
  }
  const small = await writeFiles(join(folder, 'small'), {
    'expansion.yaml': 'installer_skip_steps: [Push images]\nfiles: [demo.conf]\n',
    'files/demo.conf': 'demo\n',
  });
  const command = await measured(ESPALIER, ['expansion', 'merge', small, '--into', into]);
  const size = `${(text.length / 1024 ** 2).toFixed(1)} MB`;
  return [
    below(`merge into a tke.json of ${size}`, median(merged), LIMIT_MS, (ms) => `${ms.toFixed(0)} ms of CPU`),
    { what: 'the same as a command', figure: `${seconds(command.cpuMs)} of CPU, ${seconds(command.ms)}` },
  ];
}
