import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { API_VERSION } from '../../src/api/index.ts';
import { type Registry, startRegistry } from '../charts/support/registry.ts';
import { espalier } from '../cli/support/espalier.ts';
import {
  type ChartRepository,
  chart,
  packageChart,
  pushChart,
  startChartServer,
  startTestRegistry,
} from '../support/charts.ts';
import { tempDir } from '../support/tempdir.ts';
import { digestAt, pushImage, pushIndex } from './support/images.ts';
import { startMuseum } from './support/museum.ts';
import { runs, syncYaml, writeFiles } from './support/platform.ts';

let folder: string;
let source: Registry;
let target: Registry;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'espalier-test-'));
  [source, target] = await Promise.all([startRegistry(folder), startRegistry(folder)]);
});

after(async () => {
  await Promise.all([source?.stop(), target?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

const JOB = { 'helm.sh/hook': 'pre-install' };

/** A chart that knows `global.imageRegistry`, has a hook, and lists an image that none of its objects runs. */
function webChart(image: string, listed: string) {
  const at = `{{ (.Values.global).imageRegistry | default "${image.split('/')[0]}" }}/${image.split('/').slice(1).join('/')}`;
  const pod = (restart: string) => `spec: {restartPolicy: ${restart}, containers: [{name: a, image: '${at}'}]}`;
  return chart(
    'web',
    {
      'templates/pod.yaml': `apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n${pod('Always')}\n`,
      'templates/job.yaml': `apiVersion: batch/v1\nkind: Job\nmetadata: {name: setup, annotations: ${JSON.stringify(JOB)}}\nspec: {template: {${pod('Never')}}}\n`,
    },
    { annotations: { 'artifacthub.io/images': `- name: later\n  image: ${listed}\n` } },
  );
}

/** Two Plugins with charts, of a repository and of a registry; and what `--insecure-registry` has to name. */
async function platform(t: Parameters<typeof startChartServer>[0] & { after(run: () => Promise<void>): void }) {
  const image = await pushImage(source.host, 'team/web:1', 'carried');
  const later = await pushIndex(source.host, 'team/later:1', 'later');
  const web = packageChart(webChart(image.image, later.image));
  const side = packageChart(
    chart('side', { 'templates/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\n' }),
  );
  const [repository, registry] = await Promise.all([startChartServer(t, { charts: [web] }), startTestRegistry(t)]);
  const url = await pushChart(registry, side);
  const plugin = (name: string, from: object) =>
    JSON.stringify({
      apiVersion: API_VERSION,
      kind: 'Plugin',
      metadata: { name },
      spec: { kind: 'helm', source: from },
    });
  const dir = await writeFiles(await tempDir(t), {
    'repo/plugins/web.yaml': plugin('web', { chart: { repository: repository.url, name: 'web', version: '1.0.0' } }),
    'repo/plugins/side.yaml': plugin('side', { oci: { url, version: '1.0.0' } }),
  });
  return { dir, repo: join(dir, 'repo'), image, later, web, side, registry, args: reach(repository) };
}

function reach({ url }: ChartRepository): string[] {
  return ['--offline', '--allow-private', '--insecure-registry', new URL(url).host];
}

describe('images and charts that are carried elsewhere', { concurrency: 2 }, () => {
  test('a chart that knows imageRegistry, its hooks and what it lists are known by where they can be had', async (t) => {
    const { dir, repo, image, later, args } = await platform(t);
    await writeFiles(dir, {
      'sync.yaml': syncYaml({
        values: { imageRegistry: 'harbor.local' },
        images: { rewrite: [{ from: `${source.host}/team`, to: 'harbor.local/lead' }] },
      }),
    });
    const { code, stdout, stderr } = await espalier([
      'images',
      'list',
      repo,
      ...args,
      '--settings',
      join(dir, 'sync.yaml'),
      '-o',
      'json',
    ]);
    assert.deepEqual([code, stderr], [0, '']);
    const list = JSON.parse(stdout) as {
      images: { image: string; pulled: string; uses: { by: string; plugin: string }[] }[];
      charts: object[];
    };
    assert.deepEqual(
      list.images.map(({ image: one, pulled, uses }) => [one, pulled, uses.map(({ by, plugin }) => `${by} ${plugin}`)]),
      [
        [later.image, 'harbor.local/lead/later:1', ['chart espalier-system/web']],
        [image.image, 'harbor.local/team/web:1', ['object espalier-system/web', 'hook espalier-system/web']],
      ],
    );
    assert.equal(list.charts.length, 2);
  });

  test('charts go into a registry, with their digest where they come from one, and into a ChartMuseum; once', async (t) => {
    const { repo, web, registry, args } = await platform(t);
    const museum = await startMuseum('/org/charts');
    t.after(() => museum.close());
    const mirror = (...more: string[]) =>
      espalier(['images', 'mirror', repo, ...args, '--to', target.host, '--insecure-registry', museum.host, ...more]);
    const first = await mirror('--charts');
    assert.equal(first.code, 0, first.stderr);
    const kept = await digestAt(registry.host, 'charts/side', '1.0.0');
    assert.ok(kept !== undefined);
    assert.equal(await digestAt(target.host, 'charts/side', '1.0.0'), kept);
    const pulled = await fetch(`http://${target.host}/v2/charts/web/manifests/1.0.0`, {
      headers: { accept: 'application/vnd.oci.image.manifest.v1+json' },
    });
    const { layers } = (await pulled.json()) as { layers: { digest: string }[] };
    assert.deepEqual(
      layers.map(({ digest }) => digest),
      [`sha256:${web.digest}`],
    );
    assert.match((await mirror('--charts')).stderr, /^4 there already$/m);
    assert.equal((await mirror('--charts', museum.url)).code, 0);
    assert.deepEqual([...museum.charts.keys()].sort(), ['side-1.0.0', 'web-1.0.0']);
    assert.match((await mirror('--charts', museum.url)).stderr, /^4 there already$/m);
    assert.equal(museum.pushes, 2);
    museum.charts.set('web-1.0.0', Buffer.from('another'));
    const clash = await mirror('--charts', museum.url);
    assert.deepEqual([clash.code, museum.pushes], [1, 2]);
    assert.match(
      clash.stderr,
      /has another chart as web 1\.0\.0: .*remove it there, or give the chart another version/,
    );
  });

  test('an archive carries all of it across, is added to, and the other side proves every part', async (t) => {
    const { dir, repo, image, later, registry, args } = await platform(t);
    const file = join(dir, 'carried.tar');
    const pack = () => espalier(['images', 'mirror', repo, ...args, '--charts', '--to-archive', file]);
    const packed = await pack();
    assert.equal(packed.code, 0, packed.stderr);
    assert.match(packed.stderr, /^4 copied$/m);
    const bytes = await readFile(file);
    assert.match((await pack()).stderr, /^4 there already$/m);
    assert.ok(bytes.equals(await readFile(file)), 'the same content gives the same bytes');
    await assert.rejects(stat(`${file}.parts`));
    const unpack = (from: string, to: string, ...more: string[]) =>
      espalier(['images', 'mirror', '--from-archive', from, '--to', `${target.host}/${to}`, ...more]);
    const done = await unpack(file, 'gap', '--charts');
    assert.equal(done.code, 0, done.stderr);
    const home = `gap/${source.host.replace(':', '-')}`;
    assert.equal(await digestAt(target.host, `${home}/team/web`, '1'), image.digest);
    assert.equal(await digestAt(target.host, `${home}/team/later`, '1'), later.digest);
    assert.equal(
      await digestAt(target.host, 'gap/charts/side', '1.0.0'),
      await digestAt(registry.host, 'charts/side', '1.0.0'),
    );
    assert.match((await unpack(file, 'gap', '--charts')).stderr, /^4 there already$/m);
    // One byte of the largest part is another, and elsewhere the end is missing.
    const damaged = Buffer.from(bytes);
    const at = bytes.lastIndexOf(Buffer.from([0x1f, 0x8b]));
    damaged[at + 40] = (damaged[at + 40] ?? 0) ^ 1;
    await writeFile(join(dir, 'damaged.tar'), damaged);
    const refused = await unpack(join(dir, 'damaged.tar'), 'damaged', '--charts');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /holds a damaged part sha256:/);
    await writeFile(join(dir, 'short.tar'), bytes.subarray(0, bytes.length - 3000));
    const short = await unpack(join(dir, 'short.tar'), 'short');
    assert.match(short.stderr, /short\.tar is cut off/);
    assert.notEqual(short.code, 0);
  });

  test('an archive that is a folder is an OCI layout that other tools read', async (t) => {
    const { image } = { image: await pushImage(source.host, 'plain/app:1', 'folder') };
    const repo = await writeFiles(await tempDir(t), runs('web', image.image));
    const layout = join(await tempDir(t), 'layout');
    const { code, stderr } = await espalier(['images', 'mirror', repo, '--offline', '--to-archive', layout]);
    assert.equal(code, 0, stderr);
    const index = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8')) as {
      manifests: { digest: string; annotations: object }[];
    };
    assert.deepEqual(
      index.manifests.map(({ digest, annotations }) => [digest, Object.values(annotations)[0]]),
      [[image.digest, image.image]],
    );
    assert.deepEqual(JSON.parse(await readFile(join(layout, 'oci-layout'), 'utf8')), { imageLayoutVersion: '1.0.0' });
  });
});
