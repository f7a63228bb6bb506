import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Chart, Charts, ChartsOptions } from '../../src/charts/charts.ts';
import { folderTree } from '../../src/git/foldertree.ts';
import type { FileTree } from '../../src/git/tree.ts';
import { textTree } from '../declare/text-tree.ts';
import { chartTgz } from './support/archives.ts';
import { type Registry, startRegistry } from './support/registry.ts';
import { startWebsite, type Website } from './support/website.ts';
import { CHART, openWorkshop, type Workshop } from './support/workshop.ts';

const run = promisify(execFile);
let shop: Workshop;
let site: Website;
let registry: Registry;

before(async () => {
  shop = await openWorkshop();
  site = await startWebsite();
  registry = await startRegistry(shop.path);
  for (const name of ['redis', 'queue']) {
    await shop.write({
      [`src/${name}/Chart.yaml`]: CHART(name, '3.1.0'),
      [`src/${name}/templates/${name}.yaml`]: `kind: ${name}\n`,
    });
    await shop.helm('package', `src/${name}`, '-d', 'repo');
  }
  await shop.helm('repo', 'index', 'repo');
  for (const file of ['index.yaml', 'redis-3.1.0.tgz', 'queue-3.1.0.tgz']) {
    site.files.set(`/${file}`, await readFile(join(shop.path, 'repo', file)));
  }
  await shop.helm('push', 'repo/queue-3.1.0.tgz', `oci://${registry.host}/charts`, '--plain-http');
});
after(async () => {
  await Promise.all([site.close(), registry.stop()]);
  await shop.close();
});

async function get(charts: Charts, tree: FileTree, path: string): Promise<Chart> {
  const request = { origin: { type: 'git' as const, tree, path } };
  return charts.fetch(request, await charts.resolve(request));
}

async function filesIn(chart: Chart): Promise<string[]> {
  return (await run('tar', ['-tzf', chart.archive])).stdout.trim().split('\n').sort();
}

const WEB = {
  'apps/web/Chart.yaml': CHART('web', '1.0.0'),
  'apps/web/templates/a.yaml': 'kind: A\n',
};

test('a folder is packed without what .helmignore names, as helm package does', async () => {
  const files = {
    'web/Chart.yaml': CHART('web', '1.0.0'),
    'web/.helmignore': '# comment\n*.bak\n/docs/\ntests/\nci/*.yaml\n[ab].txt\n',
    'web/values.yaml': 'a: 1\n',
    'web/x.bak': '',
    'web/docs/a.md': '',
    'web/templates/docs/kept.yaml': '',
    'web/templates/tests/gone.yaml': '',
    'web/templates/.hidden': '',
    'web/ci/one.yaml': '',
    'web/ci/one.txt': '',
    'web/a.txt': '',
    'web/c.txt': '',
    [`web/templates/${'long-name/'.repeat(12)}x.yaml`]: 'kind: Long\n',
  };
  await shop.write(Object.fromEntries(Object.entries(files).map(([path, text]) => [`tree/${path}`, text])));
  await shop.helm('package', 'tree/web', '-d', 'byhelm');
  const { stdout } = await run('tar', ['-tzf', join(shop.path, 'byhelm/web-1.0.0.tgz')]);
  const charts = shop.open();
  const chart = await get(charts, folderTree(join(shop.path, 'tree')), 'web');
  assert.deepEqual(await filesIn(chart), stdout.trim().split('\n').sort());
  assert.match(await shop.helm('template', 'x', chart.archive), /kind: Long/);
  const without = textTree({ ...WEB, 'apps/web/.helmignore': '!*.bak\n' });
  await assert.rejects(get(charts, without, 'apps/web'), {
    message: /^apps\/web\/\.helmignore in Git leaves out Chart\.yaml \(to Helm a rule with "!"/,
  });
});

test('one tree is one archive on every machine, packed once; a change anywhere in it is another', async () => {
  const charts = shop.open();
  const tree = textTree(WEB);
  const chart = await get(charts, tree, 'apps/web');
  const other = await mkdtemp(join(tmpdir(), 'espalier-charts-'));
  assert.equal((await get(shop.open({ cacheDir: other }), tree, 'apps/web')).digest, chart.digest);
  await rm(other, { recursive: true });
  const again = textTree(WEB);
  await get(shop.open(), again, 'apps/web');
  assert.ok(!again.reads.includes('apps/web/templates/a.yaml'), 'it came from the cache');
  const changed = textTree({ ...WEB, 'apps/web/templates/a.yaml': 'kind: B\n' });
  assert.notEqual((await get(charts, changed, 'apps/web')).digest, chart.digest);
  const elsewhere = textTree({ ...WEB, 'apps/other/x': 'y' });
  assert.equal(
    (await charts.resolve({ origin: { type: 'git', tree: elsewhere, path: 'apps/web' } })).id,
    (await charts.resolve({ origin: { type: 'git', tree, path: 'apps/web' } })).id,
  );
});

test('an archive in Git is checked and used as it is', async () => {
  const charts = shop.open();
  const archive = chartTgz('web', '4.0.0');
  const request = {
    origin: { type: 'git' as const, tree: textTree({ 'charts/web-4.0.0.tgz': archive }), path: 'charts/web-4.0.0.tgz' },
  };
  const resolved = await charts.resolve(request);
  assert.equal(resolved.version, '4.0.0');
  assert.deepEqual(await readFile((await charts.fetch(request, resolved)).archive), archive);
});

test('links, submodules and paths that lead nowhere are refused before anything is packed', async () => {
  const charts = shop.open();
  const link = textTree({ ...WEB, 'apps/web/token': '-> /var/run/secrets/kubernetes.io/serviceaccount/token' });
  await assert.rejects(get(charts, link, 'apps/web'), {
    code: 'ChartRefused',
    message: /apps\/web\/token in Git is a link/,
  });
  await assert.rejects(get(charts, textTree(WEB), 'apps/wbe'), {
    code: 'ChartRefused',
    message: /nothing at "apps\/wbe"/,
  });
  await assert.rejects(get(charts, textTree(WEB), 'apps'), { code: 'ChartRefused', message: /Chart\.yaml|neither/ });
  await assert.rejects(get(charts, textTree(WEB), '../apps/web'), { code: 'GitUnsafePath' });
});

/** A chart with dependencies of every kind, locked by Helm itself. */
async function withDependencies(more = ''): Promise<FileTree> {
  const folder = `mono-${Math.random().toString(36).slice(2)}`;
  await shop.write({
    [`${folder}/common/Chart.yaml`]: CHART('common', '0.5.0', 'type: library\n'),
    [`${folder}/common/templates/_c.tpl`]: '{{ define "c" }}{{ lookup "v1" "Pod" "" "" }}{{ end }}',
    [`${folder}/apps/web/Chart.yaml`]: CHART(
      'web',
      '1.0.0',
      `dependencies:
- {name: redis, version: ">=3.0.0 <4", repository: "${site.url}", alias: store, condition: store.enabled, tags: [a, b]}
- {name: redis, version: ~3, repository: "${site.url}", import-values: [x, {parent: p, child: c}]}
- {name: common, version: 0.5.0, repository: "file://../../common"}
${more}`,
    ),
    [`${folder}/apps/web/templates/w.yaml`]: 'kind: Web\n',
  });
  await shop.helm('dependency', 'update', `${folder}/apps/web`, '--plain-http');
  await rm(join(shop.path, folder, 'apps/web/charts'), { recursive: true });
  return folderTree(join(shop.path, folder));
}

test('dependencies come as Chart.lock of Helm says, from a repository, a registry and the same tree', async () => {
  const tree = await withDependencies(`- {name: queue, version: 3.1.0, repository: "oci://${registry.host}/charts"}\n`);
  const charts = shop.open();
  site.requests.length = 0;
  const chart = await get(charts, tree, 'apps/web');
  assert.deepEqual(
    (await filesIn(chart)).filter((name) => name.includes('/charts/')),
    ['web/charts/common-0.5.0.tgz', 'web/charts/queue-3.1.0.tgz', 'web/charts/redis-3.1.0.tgz'],
  );
  assert.equal(chart.usesLookup, true);
  const rendered = await shop.helm('template', 'x', chart.archive);
  for (const kind of ['Web', 'redis', 'queue']) assert.match(rendered, new RegExp(`kind: ${kind}`));
  assert.equal(site.requests.filter((line) => line.includes('redis-3.1.0.tgz')).length, 1);
});

test('a change of a local dependency is a change of the chart', async () => {
  const files = {
    ...WEB,
    'apps/web/Chart.yaml': CHART(
      'web',
      '1.0.0',
      'dependencies:\n- {name: a, version: 1.0.0, repository: "file://../a"}\n',
    ),
    'apps/web/Chart.lock': '',
    'apps/a/Chart.yaml': CHART('a', '1.0.0'),
    'apps/a/values.yaml': 'x: 1\n',
  };
  await shop.write(Object.fromEntries(Object.entries(files).map(([path, text]) => [`local/${path}`, text])));
  await rm(join(shop.path, 'local/apps/web/Chart.lock'));
  await shop.helm('dependency', 'update', 'local/apps/web');
  const lock = await readFile(join(shop.path, 'local/apps/web/Chart.lock'), 'utf8');
  const charts = shop.open();
  const of = (tree: FileTree) => charts.resolve({ origin: { type: 'git', tree, path: 'apps/web' } });
  const before = textTree({ ...files, 'apps/web/Chart.lock': lock });
  const after = textTree({ ...files, 'apps/web/Chart.lock': lock, 'apps/a/values.yaml': 'x: 2\n' });
  assert.notEqual((await of(before)).id, (await of(after)).id);
});

const DEPENDS = (repository: string, lock = true): Record<string, string> => ({
  'web/Chart.yaml': CHART(
    'web',
    '1.0.0',
    `dependencies:\n- {name: redis, version: 3.1.0, repository: "${repository}"}\n`,
  ),
  ...(lock
    ? {
        'web/Chart.lock': `dependencies:\n- {name: redis, version: 3.1.0, repository: "${repository}"}\ndigest: sha256:0\n`,
      }
    : {}),
});

test('charts that depend on each other, or on very many, end in an error', async () => {
  const { lockDigest } = await import('../../src/charts/lock-digest.ts');
  const charts = shop.open();
  const folder = (name: string, others: string[]): Record<string, string> => {
    const dependencies = others.map((other) => ({ name: other, version: '1.0.0', repository: `file://../${other}` }));
    const asked = dependencies.map((one) => ({ ...one, written: {} }));
    const list = JSON.stringify(dependencies);
    return {
      [`${name}/Chart.yaml`]: CHART(name, '1.0.0', `dependencies: ${list}\n`),
      [`${name}/Chart.lock`]: `dependencies: ${list}\ndigest: ${lockDigest(asked, asked)}\n`,
    };
  };
  const circle = textTree({ ...folder('a', ['b']), ...folder('b', ['a']) });
  await assert.rejects(get(charts, circle, 'a'), { code: 'ChartRefused', message: /more than 5 deep/ });
  const names = ['a', 'b', 'c', 'd', 'e'];
  const levels = Object.assign(
    {},
    ...names.map((name, at) =>
      folder(
        name,
        names.slice(at + 1).flatMap((next) => Array(20).fill(next)),
      ),
    ),
  );
  await assert.rejects(get(charts, textTree(levels), 'a'), { code: 'ChartRefused', message: /more than 100 charts/ });
});

test('a missing or an old Chart.lock is refused with what to do', async () => {
  const charts = shop.open();
  await assert.rejects(get(charts, textTree(DEPENDS('https://x.example.com', false)), 'web'), {
    code: 'ChartRefused',
    message: /depends on redis, but there is no web\/Chart\.lock.*helm dependency update/,
  });
  await assert.rejects(get(charts, textTree(DEPENDS('https://x.example.com')), 'web'), {
    code: 'ChartRefused',
    message: /web\/Chart\.lock is out of sync with Chart\.yaml/,
  });
});

test('dependencies that are in charts/ need neither a lock nor the network', async () => {
  const charts = shop.open();
  for (const vendored of [
    { 'web/charts/redis-3.1.0.tgz': chartTgz('redis', '3.1.0') },
    { 'web/charts/anything/Chart.yaml': CHART('redis', '3.1.0') },
  ]) {
    const chart = await get(charts, textTree({ ...DEPENDS('https://x.example.com', false), ...vendored }), 'web');
    assert.equal((await filesIn(chart)).filter((name) => name.includes('charts/')).length, 1);
  }
});

test('dependencies come from allowed places only', async () => {
  const tree = await withDependencies();
  const only = (allow: string[]): Partial<ChartsOptions> => ({
    dependencies: { allow },
    cacheDir: join(shop.path, `c${Math.random()}`),
  });
  await assert.rejects(
    get(shop.open(only(['https://charts.example.com', `${site.url}/sub`, site.url.slice(0, -1)])), tree, 'apps/web'),
    {
      code: 'ChartRefused',
      message: /redis comes from .*not among the places/,
    },
  );
  assert.equal((await get(shop.open(only([`${site.url}/`])), tree, 'apps/web')).name, 'web');
  await assert.rejects(
    get(shop.open({ addresses: { http: true }, cacheDir: join(shop.path, 'c1') }), tree, 'apps/web'),
    {
      code: 'ChartRefused',
      message: /loopback address/,
    },
  );
});

test("a dependency may not lead out of the repository, nor be an alias of somebody's machine", async () => {
  const { lockDigest } = await import('../../src/charts/lock-digest.ts');
  const charts = shop.open();
  for (const [repository, message] of [
    ['file://../../../etc', /leads out of the repository/],
    ['file:///etc', /absolute path/],
    ['@stable', /an alias of somebody's machine/],
    ['ftp://x', /are understood/],
    ['', /not in charts/],
  ] as const) {
    const dependency = { name: 'redis', version: '3.1.0', repository, written: {} };
    const files = DEPENDS(repository);
    const lock = files['web/Chart.lock'] ?? '';
    files['web/Chart.lock'] = lock.replace('sha256:0', lockDigest([dependency], [dependency]));
    await assert.rejects(get(charts, textTree(files), 'web'), { code: 'ChartRefused', message });
  }
});
