import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { inspectArchive } from '../../src/charts/inspect.ts';
import { DEFAULT_LIMITS } from '../../src/charts/limits.ts';
import { chartTgz, type Member, tgz } from './support/archives.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'espalier-archive-'));
});
after(() => rm(folder, { recursive: true, force: true }));

async function look(archive: Uint8Array, limits = {}): ReturnType<typeof inspectArchive> {
  const file = join(folder, 'chart.tgz');
  await writeFile(file, archive);
  return inspectArchive(file, { ...DEFAULT_LIMITS, ...limits });
}

const CHART: Member = { path: 'web/Chart.yaml', data: 'apiVersion: v2\nname: web\nversion: 1.0.0\n' };
const named = (name: string): Member[] => [{ path: 'web/Chart.yaml', data: `name: ${name}\nversion: 1.0.0\n` }];
const nested = (depth: number): Buffer =>
  depth === 0 ? chartTgz('leaf', '1.0.0') : chartTgz('web', '1.0.0', { 'charts/a.tgz': nested(depth - 1) });

const refused: [title: string, archive: () => Uint8Array, message: RegExp, limits?: object][] = [
  [
    'a symbolic link',
    () => tgz([CHART, { path: 'web/token', flag: '2', link: '/var/run/secrets/token' }]),
    /"web\/token", which is a symbolic link/,
  ],
  ['a hard link', () => tgz([CHART, { path: 'web/token', flag: '1', link: '/etc/passwd' }]), /a hard link/],
  ['a device', () => tgz([CHART, { path: 'web/null', flag: '3' }]), /a device/],
  ['a pipe', () => tgz([CHART, { path: 'web/pipe', flag: '6' }]), /a pipe/],
  ['an unknown kind of entry', () => tgz([CHART, { path: 'web/x', flag: 'Z' }]), /neither a file nor a folder/],
  [
    'a link in a chart in it',
    () => chartTgz('web', '1.0.0', { 'charts/a.tgz': tgz([{ path: 'a/b', flag: '2', link: '/' }]) }),
    /symbolic link/,
  ],
  ['a path upwards', () => tgz([CHART, { path: 'web/../../x' }]), /leads out of its folder/],
  ['an absolute path', () => tgz([CHART, { path: '/web/x' }]), /absolute/],
  ['a drive', () => tgz([CHART, { path: 'C:/web/x' }]), /absolute/],
  ['a backslash', () => tgz([CHART, { path: 'web\\..\\x' }]), /backslashes/],
  ['a folder `.`', () => tgz([{ path: './Chart.yaml', data: 'x' }]), /roundabout/],
  ['a folder `..`', () => tgz([{ path: '../Chart.yaml', data: 'x' }]), /leads out of its folder/],
  ['a file beside the folder', () => tgz([CHART, { path: 'x' }]), /"x" beside its folder/],
  ['two folders', () => tgz([CHART, { path: 'other/x' }]), /two folders at its top/],
  ['one Chart.yaml twice', () => tgz([CHART, CHART]), /twice/],
  ['no Chart.yaml', () => tgz([{ path: 'web/values.yaml' }]), /holds no Chart\.yaml/],
  ['a chart named `..`', () => tgz(named('..')), /names the chart "\.\."/],
  ['a chart named with a slash', () => tgz(named('a/b')), /names the chart "a\/b"/],
  ['a chart without a version', () => tgz([{ path: 'web/Chart.yaml', data: 'name: web\n' }]), /gives the version ""/],
  ['a Chart.yaml that is no YAML', () => tgz([{ path: 'web/Chart.yaml', data: 'a: [' }]), /can't be read as YAML/],
  [
    'an 800-fold archive',
    () => chartTgz('web', '1.0.0', { a: Buffer.alloc(4 << 20), b: Buffer.alloc(4 << 20) }),
    /100 times as large unpacked/,
  ],
  [
    'an 800-fold archive in it',
    () => chartTgz('web', '1.0.0', { 'charts/a.tgz': chartTgz('a', '1.0.0', { a: Buffer.alloc(4 << 20) }) }),
    /100 times as large unpacked/,
  ],
  [
    'a bomb behind the end',
    () => Buffer.concat([chartTgz('web', '1.0.0'), gzipSync(Buffer.alloc(32 << 20))]),
    /100 times as large unpacked/,
  ],
  [
    'too much unpacked',
    () => chartTgz('web', '1.0.0', { a: Buffer.alloc(2 << 20) }),
    /more than 1\.0 MiB unpacked/,
    { unpackedBytes: 1 << 20, ratio: 1e6 },
  ],
  [
    'too large a file',
    () => chartTgz('web', '1.0.0', { a: Buffer.alloc(6 << 20) }),
    /5242880 are allowed at most/,
    { ratio: 1e6 },
  ],
  [
    'too many files',
    () => tgz([CHART, ...Array.from({ length: 30 }, (_, at) => ({ path: `web/${at}` }))]),
    /more than 20 files/,
    { files: 20 },
  ],
  ['charts in charts too deep', () => nested(5), /more than 5 deep/],
  ['no gzip', () => Buffer.from('<html>'), /can't be decompressed/],
  [
    'half an archive',
    () =>
      chartTgz('web', '1.0.0', { a: Buffer.from(Array.from({ length: 4000 }, (_, at) => at % 251)) }).subarray(0, 150),
    /can't be decompressed|ends/,
  ],
  ['a wrong sum', () => gzipSync(Buffer.alloc(1024, 7)), /wrong sum|no number/],
];

for (const [title, archive, message, limits] of refused) {
  test(`refuses an archive with ${title}`, async () => {
    await assert.rejects(look(archive(), limits), { code: 'ChartRefused', message, retry: false });
  });
}

test('a file that nobody reads may be there twice, as some versions of Helm packed it', async () => {
  const twice = { path: 'web/requirements.lock', data: 'x' };
  assert.equal((await look(tgz([CHART, twice, twice]))).chart.name, 'web');
});

test('a bomb of 400 megabytes costs a few megabytes', async () => {
  const megabyte = Buffer.alloc(4 << 20);
  const bomb = gzipSync(Buffer.concat(Array.from({ length: 100 }, () => megabyte)), { level: 9 });
  const before = process.memoryUsage().rss;
  await assert.rejects(look(bomb), { code: 'ChartRefused' });
  assert.ok(process.memoryUsage().rss - before < 64 << 20);
});

test('tells what is in a chart and in the charts in it: CRDs in their order, and whether lookup is used', async () => {
  const found = await look(
    chartTgz('web', '1.0.0', {
      'Chart.yaml':
        'apiVersion: v2\nname: web\nversion: 1.0.0\nappVersion: "1.10"\ntype: library\nkubeVersion: ">=1.29"\n',
      'charts/zoo/Chart.yaml': 'name: zoo\nversion: 1.0.0',
      'charts/zoo/crds/c.yaml': 'c',
      'charts/_hidden/crds/no.yaml': 'no',
      'crds/b.yaml': 'b',
      'crds/a.json': 'a',
      'crds/README.md': 'no',
      'templates/x.yaml': 'nothing is lookedup',
      'charts/ark.tgz': chartTgz('ark', '2.0.0', { 'crds/d.yml': 'd', 'templates/_x.tpl': '{{ lookup }}' }),
      'charts/_off.tgz': Buffer.from('not looked at'),
    }),
    {},
  ).catch((error: unknown) => error);
  // The first Chart.yaml of the helper is replaced by the one given.
  assert.deepEqual(found, {
    chart: {
      apiVersion: 'v2',
      name: 'web',
      version: '1.0.0',
      appVersion: '1.10',
      type: 'library',
      kubeVersion: '>=1.29',
      dependencies: [],
    },
    crds: [
      { file: 'crds/b.yaml', text: 'b' },
      { file: 'crds/a.json', text: 'a' },
      { file: 'charts/ark/crds/d.yml', text: 'd' },
      { file: 'charts/zoo/crds/c.yaml', text: 'c' },
    ],
    usesLookup: true,
  });
});
