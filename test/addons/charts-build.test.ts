import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { lockDigest } from '../../src/charts/lock-digest.ts';
import { ADA, type Registry, startRegistry } from '../charts/support/registry.ts';
import { espalier } from '../cli/support/espalier.ts';
import { startMuseum } from '../mirror/support/museum.ts';
import { writeFiles } from '../mirror/support/platform.ts';
import { helmPackage } from '../support/charts.ts';
import { tempDir } from '../support/tempdir.ts';

let folder: string;
let registry: Registry;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'espalier-test-'));
  registry = await startRegistry(folder);
});

after(async () => {
  await registry?.stop();
  await rm(folder, { recursive: true, force: true });
});

const CONFIG = (name: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {a: {{ .Values.a | quote }}}\n`;

/** A chart by its files, below a folder. */
function chartIn(path: string, name: string, more = ''): Record<string, string> {
  return {
    [`${path}/Chart.yaml`]: `apiVersion: v2\nname: ${name}\nversion: 1.0.0\nicon: https://example.com/i.png\n${more}`,
    [`${path}/values.yaml`]: 'a: b\n',
    [`${path}/templates/c.yaml`]: CONFIG(name),
  };
}

/** Two charts, one of which holds a third and needs a fourth beside it, and one among the sources of an expansion package. */
const TREE: Record<string, string> = {
  ...chartIn('charts/web', 'web', 'annotations: {espalier.dev/class: system}\n'),
  ...chartIn('charts/shop', 'shop', 'dependencies: [{name: vendored, version: 1.0.0}]\n'),
  ...chartIn('charts/shop/charts/vendored', 'vendored'),
  ...chartIn('packages/demo/charts/demo', 'demo'),
  'packages/demo/expansion.yaml': 'charts: []\n',
  'charts/.hidden/Chart.yaml': 'nothing\n',
};

describe('espalier charts build', { concurrency: 2 }, () => {
  test('packs every chart of a tree to the same bytes each time, and pushes what is new', async (t) => {
    const dir = await writeFiles(await tempDir(t), TREE);
    const [one, two] = [join(dir, 'one'), join(dir, 'two')];
    const to = ['--to', `oci://${registry.host}/first`, '--insecure-registry', registry.host];
    const dry = await espalier(['charts', 'build', dir, ...to, '--dry-run']);
    assert.deepEqual([dry.code, dry.stderr], [0, '3 new\n'], dry.stderr);
    const first = await espalier(['charts', 'build', dir, ...to, '-d', one, '-o', 'json']);
    assert.equal(first.code, 0, first.stderr);
    const { charts } = JSON.parse(first.stdout) as { charts: Record<string, string>[] };
    assert.deepEqual(
      charts.map(({ name, state, class: given }) => [name, state, given]),
      [
        ['shop', 'pushed', undefined],
        ['web', 'pushed', 'system'],
        ['demo', 'pushed', undefined],
      ],
    );
    assert.equal(charts[1]?.to, `oci://${registry.host}/first/web:1.0.0`);
    const again = await espalier(['charts', 'build', dir, ...to, '-d', two, '--jobs', '1']);
    assert.deepEqual([again.code, again.stderr], [0, '3 there\n']);
    assert.match(again.stdout, /^there {3}web 1\.0\.0 \[system\] \(.*charts\/web\) → oci:\/\/.*\/first\/web:1\.0\.0$/m);
    for (const file of await readdir(one))
      assert.deepEqual(await readFile(join(one, file)), await readFile(join(two, file)));
    assert.equal((await stat(join(one, 'web-1.0.0.tgz'))).mode & 0o777, 0o644);
    const web = join(dir, 'charts', 'web');
    const within = await espalier(['charts', 'build', web, '-d', join(web, 'dist')]);
    assert.equal(within.code, 64);
    assert.match(within.stderr, /dist is in the chart .*web, which would hold its archive from then on: name a folder/);
    await writeFile(join(web, '.helmignore'), 'dist/\n');
    assert.equal((await espalier(['charts', 'build', web, '-d', join(web, 'dist')])).code, 0);
  });

  test('what a chart depends on comes with the logins of docker, those of a push', async (t) => {
    const dir = await writeFiles(await tempDir(t), chartIn('lib', 'lib'));
    const own = await startRegistry(dir, { htpasswd: ADA.line });
    t.after(() => own.stop());
    const auth = Buffer.from(`${ADA.username}:${ADA.password}`).toString('base64');
    const needs = [{ name: 'lib', version: '1.0.0', repository: `oci://${own.host}/charts` }];
    const asked = needs.map((one) => ({ ...one, written: {} }));
    const list = `dependencies: ${JSON.stringify(needs)}\n`;
    await writeFiles(dir, {
      ...chartIn('web', 'web', list),
      'web/Chart.lock': `${list}digest: ${lockDigest(asked, asked)}\n`,
      'login/config.json': JSON.stringify({ auths: { [own.host]: { auth } } }),
    });
    const wire = ['--insecure-registry', own.host, '--allow-private'];
    process.env.DOCKER_CONFIG = join(dir, 'login');
    const pushed = await espalier(['charts', 'build', join(dir, 'lib'), '--to', `oci://${own.host}/charts`, ...wire]);
    assert.deepEqual([pushed.code, pushed.stderr], [0, '1 pushed\n']);
    const web = ['charts', 'build', join(dir, 'web'), '--dry-run', ...wire];
    const built = await espalier(web);
    assert.deepEqual([built.code, built.stderr], [0, '1 packed\n']);
    process.env.DOCKER_CONFIG = dir;
    const stranger = await espalier(web);
    assert.equal(stranger.code, 1);
    assert.match(
      stranger.stderr,
      /The dependency lib: .* asks for credentials .*; log in with "docker login 127\.0\.0\.1:\d+", or/,
    );
  });

  test('one chart at fault stops no other, and all faults come at the end', async (t) => {
    const dir = await writeFiles(await tempDir(t), {
      ...chartIn('charts/good', 'good'),
      ...chartIn('charts/bad', 'bad'),
      'charts/bad/templates/c.yaml': 'a: {{ .Values.a | nofn }}\n',
      ...chartIn('charts/twin', 'twin'),
      ...chartIn('charts/other', 'twin'),
      ...chartIn(
        'charts/needy',
        'needy',
        'dependencies: [{name: x, version: 1.0.0, repository: "https://x.example.com"}]\n',
      ),
      'charts/plain/Chart.yaml': 'apiVersion: v2\nname: plain\nversion: 1.0.0\n',
    });
    const { code, stdout, stderr } = await espalier(['charts', 'build', join(dir, 'charts'), '-d', join(dir, 'out')]);
    assert.equal(code, 1);
    assert.match(stdout, /^packed {2}good 1\.0\.0 .*good-1\.0\.0\.tgz\npacked {2}plain 1\.0\.0 .*\n$/);
    const lines = stderr.trimEnd().split('\n');
    assert.deepEqual([lines.length, lines.at(-1)], [6, '2 packed, 4 failed']);
    assert.match(lines[0] ?? '', /^Warning: .*charts\/plain: templates\/: directory does not exist$/);
    assert.match(
      lines[1] ?? '',
      /^✗ .*charts\/bad: templates\/: parse error at \(.*charts\/bad\/templates\/c\.yaml:1\): function "nofn" not defined$/,
    );
    assert.match(lines[2] ?? '', /^✗ .*charts\/needy: .*depends on x, but there is no needy\/Chart\.lock/);
    assert.match(lines[3] ?? '', /^✗ .*charts\/other: twin 1\.0\.0 is also what .*charts\/twin makes: rename one/);
    assert.deepEqual((await readdir(join(dir, 'out'))).sort(), ['good-1.0.0.tgz', 'plain-1.0.0.tgz']);
    const strict = await espalier(['charts', 'build', join(dir, 'charts', 'plain'), '--strict', '--dry-run']);
    assert.deepEqual(
      [strict.code, /✗ .*templates\/: directory does not exist/.test(strict.stderr)],
      [1, true],
      strict.stderr,
    );
  });

  test('the same version with other content is a fault in a registry and in a ChartMuseum; packed by others it is the same', async (t) => {
    const dir = await writeFiles(await tempDir(t), TREE);
    const museum = await startMuseum();
    t.after(() => museum.close());
    const files = Object.entries(TREE).flatMap(([path, text]) => {
      const inside = path.startsWith('charts/shop/') ? path.slice('charts/shop/'.length) : undefined;
      return inside === undefined ? [] : [[inside, text] as const];
    });
    // Other bytes, as of each run of `helm package`.
    const theirs = await helmPackage(t, Object.fromEntries(files));
    museum.charts.set('shop-1.0.0', theirs.bytes);
    const places = [museum.url, `oci://${registry.host}/second`];
    const hosts = ['--insecure-registry', museum.host, '--insecure-registry', registry.host];
    const build = (to: string) => espalier(['charts', 'build', join(dir, 'charts'), '--to', to, ...hosts]);
    const [first, second] = [await build(places[0] ?? ''), await build(places[1] ?? '')];
    assert.deepEqual([first.code, first.stderr], [0, '1 pushed, 1 there\n']);
    assert.deepEqual([second.code, second.stderr], [0, '2 pushed\n']);
    await writeFile(join(dir, 'charts', 'web', 'values.yaml'), 'a: changed\n');
    for (const to of places) {
      const { code, stdout, stderr } = await build(to);
      assert.equal(code, 1);
      assert.match(stdout, /^there {3}shop 1\.0\.0/);
      assert.match(
        stderr,
        /✗ .*charts\/web: .* is there with other content \(values\.yaml\): bump the version in Chart\.yaml/,
      );
    }
    assert.equal(museum.pushes, 1);
    const web = museum.charts.get('web-1.0.0') ?? Buffer.of();
    museum.charts.delete('web-1.0.0');
    museum.meanwhile = () => museum.charts.set('web-1.0.0', web);
    await writeFile(join(dir, 'charts', 'web', 'values.yaml'), TREE['charts/web/values.yaml'] ?? '');
    const raced = await build(museum.url);
    assert.deepEqual([raced.code, raced.stderr, museum.pushes], [0, '2 there\n', 2]);
    for (const to of ['ftp://museum.example.com', `oci://${registry.host}/Second`])
      assert.equal((await build(to)).code, 64, to);
  });
});
