import assert from 'node:assert/strict';
import { readdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import type { ChartOrigin, ChartRequest } from '../../src/charts/charts.ts';
import { chartTgz, sha256, tgz, zip } from './support/archives.ts';
import { startWebsite, type Website } from './support/website.ts';
import { openWorkshop, type Workshop } from './support/workshop.ts';

let shop: Workshop;
let site: Website;

before(async () => {
  shop = await openWorkshop();
  site = await startWebsite();
});
after(async () => {
  await site.close();
  await shop.close();
});
beforeEach(() => {
  site.files.clear();
  site.requests.length = 0;
  site.logins.length = 0;
  site.intercept = undefined;
});

type Download = Extract<ChartOrigin, { type: 'download' }>;

function ask(file: string, more: Partial<Download> = {}, digest?: string): ChartRequest {
  const origin: Download = { type: 'download', url: `${site.url}/${file}`, ...more };
  return { origin, ...(digest === undefined ? {} : { digest }) };
}

function open(t: TestContext, cache = Math.random().toString(36)) {
  const charts = shop.open({ cacheDir: join(shop.path, cache) });
  t.after(() => charts.close());
  const fetch = async (request: ChartRequest) => await charts.fetch(request, await charts.resolve(request));
  const folder = async (request: ChartRequest) => {
    const { tree, path } = await charts.folder(request, await charts.resolve(request));
    const files: Record<string, string> = {};
    for await (const entry of tree.walk('')) {
      if (entry.type === 'file') files[entry.path] = Buffer.from((await tree.read(entry.path)) ?? '').toString();
    }
    return { path, files };
  };
  return { ...charts, charts, fetch, folder };
}

test('a chart that is downloaded stays byte for byte what it is, and is known by its digest', async (t) => {
  const archive = chartTgz('web', '1.2.3', { 'values.yaml': 'a: 1\n' });
  site.files.set('/releases/latest', archive);
  const charts = open(t);
  const resolved = await charts.resolve(ask('releases/latest'));
  assert.deepEqual(resolved, { version: sha256(archive).slice(7, 17), id: sha256(archive) });
  const chart = await charts.fetch(ask('releases/latest'));
  assert.deepEqual([chart.name, chart.version, chart.digest], ['web', '1.2.3', sha256(archive)]);
  assert.deepEqual(site.requests, ['GET /releases/latest 200'], 'one download is all');
});

test('a chart deeper in an archive, in a .zip and as an archive in an archive', async (t) => {
  const chart = 'apiVersion: v2\nname: web\nversion: 1.0.0\n';
  const deep = [
    { path: 'repo-1/charts/web/Chart.yaml', data: chart },
    { path: 'repo-1/README', data: 'x' },
  ];
  site.files.set('/deep.tgz', tgz([...deep, { path: 'repo-1/docs', flag: '2', link: '../..' }]));
  site.files.set('/top.zip', zip([{ path: 'Chart.yaml', data: chart }]));
  site.files.set('/one.zip', zip([{ path: 'web-1.0.0/Chart.yaml', data: chart }]));
  site.files.set('/nested.zip', zip([{ path: 'dist/web.tgz', data: chartTgz('web', '1.0.0') }]));
  const charts = open(t);
  for (const [file, path] of [
    ['deep.tgz', 'repo-1/charts/web'],
    ['top.zip'],
    ['one.zip'],
    ['nested.zip', 'dist/web.tgz'],
  ]) {
    const found = await charts.fetch(ask(file ?? '', path === undefined ? {} : { path }));
    assert.deepEqual([found.name, found.version], ['web', '1.0.0'], file);
  }
});

test('manifests: one file of YAML or JSON, a folder in an archive, and one made of its top', async (t) => {
  site.files.set('/v1/install.yaml', Buffer.from('kind: A\n'));
  site.files.set('/dashboard', Buffer.from('{"kind": "A"}'));
  site.files.set(
    '/dot.tgz',
    tgz([
      { path: './', flag: '5' },
      { path: './a.yaml', data: 'a' },
      { path: './b/c.yaml', data: 'c' },
    ]),
  );
  site.files.set('/one.zip', zip([{ path: 'x-1.0/a.yaml', data: 'a' }]));
  const charts = open(t);
  assert.deepEqual(await charts.folder(ask('v1/install.yaml?raw=1')), {
    path: '.',
    files: { 'install.yaml': 'kind: A\n' },
  });
  assert.deepEqual(Object.keys((await charts.folder(ask('dashboard'))).files), ['dashboard.yaml']);
  assert.deepEqual(await charts.folder(ask('dot.tgz')), { path: '.', files: { 'a.yaml': 'a', 'b/c.yaml': 'c' } });
  assert.equal((await charts.folder(ask('dot.tgz', { path: 'b' }))).path, 'b');
  assert.equal((await charts.folder(ask('one.zip'))).path, 'x-1.0');
  await assert.rejects(charts.folder(ask('dot.tgz', { path: 'nowhere' })), {
    code: 'SourceMissing',
    message: /source\.download\.path "nowhere" .*holds a\.yaml, b\//,
  });
});

test('a look that finds the same costs one answer without content, also after a restart', async (t) => {
  site.files.set('/a.yaml', Buffer.from('a: 1\n'));
  const request = ask('a.yaml');
  const first = open(t, 'polls');
  const { id } = await first.resolve(request);
  assert.equal((await first.resolve(request, { fresh: true })).id, id);
  const second = open(t, 'polls');
  assert.equal((await second.resolve(request)).id, id);
  await second.folder(request);
  assert.deepEqual(site.requests, ['GET /a.yaml 200', 'GET /a.yaml 304', 'GET /a.yaml 304']);
  site.files.set('/a.yaml', Buffer.from('a: 2\n'));
  assert.notEqual((await second.resolve(request, { fresh: true })).id, id);
  assert.deepEqual((await second.folder(request)).files, { 'a.yaml': 'a: 2\n' });
});

test('a digest that is required: another file is refused, and the right one is never asked for again', async (t) => {
  const bytes = Buffer.from('a: 1\n');
  site.files.set('/a.yaml', bytes);
  const wrong = ask('a.yaml', {}, `sha256:${'0'.repeat(64)}`);
  const charts = open(t, 'pinned');
  await assert.rejects(charts.resolve(wrong), {
    code: 'DownloadRefused',
    message: new RegExp(`a\\.yaml has the digest ${sha256(bytes)}, but sha256:0+ is required`),
  });
  await charts.folder(ask('a.yaml', {}, sha256(bytes)));
  site.files.clear();
  site.requests.length = 0;
  const later = open(t, 'pinned');
  assert.deepEqual((await later.folder(ask('a.yaml', {}, sha256(bytes)))).files, { 'a.yaml': 'a: 1\n' });
  assert.deepEqual(site.requests, []);
});

test('a file in the cache that was damaged is fetched again, and one that changed meanwhile is said to have', async (t) => {
  site.files.set('/a.yaml', Buffer.from('a: 1\n'));
  const charts = open(t, 'damaged');
  const resolved = await charts.resolve(ask('a.yaml'));
  const dir = join(shop.path, 'damaged', 'downloads');
  const [file = ''] = await readdir(dir);
  await truncate(join(dir, file), 2);
  await charts.folder(ask('a.yaml'));
  await truncate(join(dir, file), 2);
  site.files.set('/a.yaml', Buffer.from('a: 2\n'));
  await assert.rejects(
    async () =>
      open(t, 'damaged')
        .folder(ask('a.yaml'))
        .then(() => charts.folder(ask('a.yaml'))),
    {
      code: 'DownloadFailed',
      message: /changed since it was looked up/,
    },
  );
  assert.equal(resolved.id, sha256(Buffer.from('a: 1\n')));
});

test('credentials go to their host and no further, and what they open is not given to others', async (t) => {
  const store = await startWebsite();
  t.after(() => store.close());
  store.files.set('/blob', Buffer.from('a: 1\n'));
  const basic = `Basic ${Buffer.from('ada:pass-1').toString('base64')}`;
  site.intercept = (request, response) => {
    const isAda = request.headers.authorization === basic;
    response.writeHead(isAda ? 302 : 401, { location: `http://localhost:${store.port}/blob?sig=secret` }).end();
    return true;
  };
  const credentials = { username: 'ada', password: 'pass-1' };
  const charts = open(t);
  const known = ask('a.yaml', { credentials });
  const resolved = await charts.resolve(known);
  assert.deepEqual((await charts.folder(known)).files, { 'a.yaml': 'a: 1\n' });
  assert.deepEqual([site.logins, store.logins], [[basic], [undefined]]);
  await assert.rejects(charts.charts.folder(ask('a.yaml'), resolved), {
    code: 'DownloadAuthFailed',
    message: /asks for credentials/,
  });
  const other = ask('a.yaml', { credentials: { username: 'eve', password: 'pass-2' } });
  await assert.rejects(charts.folder(other), { code: 'DownloadAuthFailed', message: /did not accept/ });
});

const refused: [title: string, body: () => Buffer, message: RegExp][] = [
  ['a web page', () => Buffer.from('\n<!DOCTYPE html><title>Log in'), /is a web page/],
  ['a program', () => Buffer.from('\x7fELF\0\0'), /neither a \.tgz/],
  ['a path out of its folder in a .tgz', () => tgz([{ path: 'a/../../b.yaml' }]), /leads out of its folder/],
  ['a device', () => tgz([{ path: 'a', flag: '3' }]), /a device/],
  [
    'more than a folder may hold',
    () => tgz([{ path: 'a', data: Buffer.alloc(51 << 20, 'abc') }]),
    /are allowed|100 times/,
  ],
  ['more than is downloaded', () => Buffer.alloc(21 << 20, 'a'), /larger than 20\.0 MiB/],
];

for (const [title, body, message] of refused) {
  test(`refuses a download with ${title}`, async (t) => {
    site.files.set('/x', body());
    await assert.rejects(open(t).folder(ask('x')), { code: 'DownloadRefused', message, retry: false });
  });
}

test('a link is not followed, whatever it leads to', async (t) => {
  site.files.set('/x.tgz', tgz([{ path: 'a/b.yaml', flag: '2', link: '/etc/passwd' }]));
  const charts = open(t);
  const { tree } = await charts.charts.folder(ask('x.tgz'), await charts.resolve(ask('x.tgz')));
  await assert.rejects(tree.read('a/b.yaml'), { code: 'GitUnsafePath' });
});

test('a file that is not there, a server that fails, an address that is not allowed', async (t) => {
  const charts = open(t);
  await assert.rejects(charts.resolve(ask('none.yaml')), {
    code: 'DownloadNotFound',
    message: /has no file .*none\.yaml \(404\)/,
  });
  site.intercept = (_, response) => {
    response.writeHead(503).end();
    return true;
  };
  await assert.rejects(charts.resolve(ask('a.yaml')), { code: 'DownloadFailed', message: /answered 503/, retry: true });
  const strict = shop.open({ addresses: { http: true }, cacheDir: join(shop.path, 'strict') });
  await assert.rejects(strict.resolve(ask('a.yaml')), /127\.0\.0\.1/);
  const there = { type: 'download' as const, url: 'http://169.254.169.254/latest/meta-data' };
  await assert.rejects(strict.resolve({ origin: there }), /169\.254\.169\.254/);
});
