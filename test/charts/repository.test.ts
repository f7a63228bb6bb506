import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import type { ChartRequest } from '../../src/charts/charts.ts';
import { makeCertificates } from '../git/support/authority.ts';
import { FakeClock } from '../support/clock.ts';
import { countTurns } from '../support/turns.ts';
import { chartTgz, sha256, tgz } from './support/archives.ts';
import { startRegistry } from './support/registry.ts';
import { startWebsite, type Website } from './support/website.ts';
import { CHART, openWorkshop, type Workshop } from './support/workshop.ts';

let shop: Workshop;
let site: Website;

before(async () => {
  site = await startWebsite();
});
beforeEach(async () => {
  shop = await openWorkshop();
  site.files.clear();
  site.requests.length = 0;
  site.logins.length = 0;
  site.intercept = undefined;
});
after(() => site.close());

/** Puts charts that Helm packed, and the index that Helm made of them, on the site. */
async function publish(versions: string[], name = 'web'): Promise<void> {
  for (const version of versions) {
    await shop.write({
      [`src/${name}/Chart.yaml`]: CHART(name, version, 'appVersion: "9"\n'),
      [`src/${name}/templates/a.yaml`]: 'kind: ConfigMap\n',
      [`src/${name}/crds/b.yaml`]: 'kind: CustomResourceDefinition # b\n',
    });
    await shop.helm('package', `src/${name}`, '-d', 'repo');
    site.files.set(`/${name}-${version}.tgz`, await readFile(join(shop.path, 'repo', `${name}-${version}.tgz`)));
  }
  await shop.helm('repo', 'index', 'repo');
  site.files.set('/index.yaml', await readFile(join(shop.path, 'repo', 'index.yaml')));
}

function ask(version?: string, more: Partial<ChartRequest> = {}): ChartRequest {
  const origin = {
    type: 'repository' as const,
    repository: site.url,
    name: 'web',
    ...(version === undefined ? {} : { version }),
  };
  return { origin, ...more };
}

test('a chart in the version that a range means now: one request for the index, one for the archive', async (t) => {
  t.after(() => shop.close());
  await publish(['1.0.0', '1.2.0', '1.3.0-rc.1', '2.0.0']);
  const charts = shop.open();
  const resolved = await charts.resolve(ask('^1'));
  const digest = sha256(site.files.get('/web-1.2.0.tgz') ?? Buffer.alloc(0));
  assert.deepEqual(resolved, { version: '1.2.0', id: digest });
  const chart = await charts.fetch(ask('^1'), resolved);
  assert.deepEqual(
    { name: chart.name, version: chart.version, app: chart.appVersion, type: chart.type, digest: chart.digest },
    { name: 'web', version: '1.2.0', app: '9', type: 'application', digest },
  );
  assert.deepEqual(chart.crds, [{ file: 'crds/b.yaml', text: 'kind: CustomResourceDefinition # b\n' }]);
  assert.equal(sha256(await readFile(chart.archive)), digest);
  assert.deepEqual(site.requests, ['GET /index.yaml 200', 'GET /web-1.2.0.tgz 200']);
  assert.equal((await charts.resolve(ask())).version, '2.0.0', 'no version means the newest stable one');
  assert.equal((await charts.resolve(ask('>1.2-0 <2'))).version, '1.3.0-rc.1');
});

test('a version that was published a moment after the index was read is found', async (t) => {
  t.after(() => shop.close());
  await publish(['1.0.0']);
  const charts = shop.open();
  await charts.resolve(ask('1.0.0'));
  await publish(['1.1.0']);
  assert.equal((await charts.resolve(ask('1.1.0'))).version, '1.1.0');
});

test('ten who want one chart at the same time, and one after a restart, cost one download', async (t) => {
  t.after(() => shop.close());
  await publish(['1.0.0']);
  const charts = shop.open();
  const all = await Promise.all(
    Array.from({ length: 10 }, async () => charts.fetch(ask('1.x'), await charts.resolve(ask('1.x')))),
  );
  assert.equal(new Set(all.map((chart) => chart.archive)).size, 1);
  assert.deepEqual(site.requests, ['GET /index.yaml 200', 'GET /web-1.0.0.tgz 200']);
  const again = shop.open();
  await again.fetch(ask('1.x'), await again.resolve(ask('1.x')));
  assert.deepEqual(site.requests.slice(2), ['GET /index.yaml 304'], 'the ETag was kept');
});

test('a chart with its digest is not asked for again, not even after a restart', async (t) => {
  t.after(() => shop.close());
  await publish(['1.0.0']);
  const digest = sha256(site.files.get('/web-1.0.0.tgz') ?? Buffer.alloc(0));
  const charts = shop.open();
  await charts.fetch(ask('1.0.0', { digest }), await charts.resolve(ask('1.0.0', { digest })));
  site.requests.length = 0;
  const again = shop.open();
  const chart = await again.fetch(ask('1.0.0', { digest }), await again.resolve(ask('1.0.0', { digest })));
  assert.equal(chart.digest, digest);
  assert.deepEqual(site.requests, []);
});

test('another archive than the digest says is refused, whether the index or the user says it', async (t) => {
  t.after(() => shop.close());
  await publish(['1.0.0']);
  const charts = shop.open();
  const digest = `sha256:${'0'.repeat(64)}`;
  const resolved = await charts.resolve(ask('1.0.0', { digest }));
  await assert.rejects(charts.fetch(ask('1.0.0', { digest }), resolved), {
    code: 'ChartRefused',
    message: /0{64} is required/,
  });
  site.files.set('/web-1.0.0.tgz', chartTgz('web', '1.0.0', { other: 'content' }));
  await assert.rejects(charts.fetch(ask('1.0.0'), resolved), {
    code: 'ChartRefused',
    message: /The index of .* says sha256:/,
  });
});

test('a damaged archive in the cache is noticed and fetched again', async (t) => {
  t.after(() => shop.close());
  await publish(['1.0.0']);
  const charts = shop.open();
  const resolved = await charts.resolve(ask('1.0.0'));
  const { archive, bytes } = await charts.fetch(ask('1.0.0'), resolved);
  for (const damage of [Buffer.alloc(bytes), Buffer.alloc(3)]) {
    await writeFile(archive, damage);
    const chart = await shop.open().fetch(ask('1.0.0'), resolved);
    assert.equal(sha256(await readFile(chart.archive)), chart.digest);
  }
  assert.equal(site.requests.filter((line) => line.startsWith('GET /web')).length, 3);
});

test('credentials go to the host that they are for, not to where the index or a redirect leads', async (t) => {
  t.after(() => shop.close());
  const other = await startWebsite();
  t.after(() => other.close());
  await publish(['1.0.0', '2.0.0']);
  other.files.set('/web-1.0.0.tgz', site.files.get('/web-1.0.0.tgz') ?? Buffer.alloc(0));
  other.files.set('/web-2.0.0.tgz', site.files.get('/web-2.0.0.tgz') ?? Buffer.alloc(0));
  const index = (site.files.get('/index.yaml') ?? '').toString();
  site.files.set('/index.yaml', Buffer.from(index.replace('- web-1.0.0.tgz', `- ${other.url}/web-1.0.0.tgz`)));
  site.intercept = (request, response) => {
    if (request.headers.authorization === undefined) {
      response.writeHead(401).end();
      return true;
    }
    if (request.url !== '/web-2.0.0.tgz') return false;
    response.writeHead(302, { location: `${other.url}/web-2.0.0.tgz` }).end();
    return true;
  };
  const charts = shop.open();
  const credentials = { username: 'ada', password: 'pass-word-1' };
  for (const version of ['1.0.0', '2.0.0']) {
    const request: ChartRequest = {
      origin: { type: 'repository', repository: site.url, name: 'web', version, credentials },
    };
    await charts.fetch(request, await charts.resolve(request));
  }
  assert.deepEqual(other.logins, [undefined, undefined]);
  assert.ok(site.logins.every((login) => login?.startsWith('Basic ')));
  await assert.rejects(charts.resolve(ask('1.0.0')), {
    code: 'ChartAuthFailed',
    message: /asks for credentials.*secretRef/,
  });
});

test('what a repository does not have is said with what it has', async (t) => {
  t.after(() => shop.close());
  await publish(['1.0.0']);
  const charts = shop.open();
  await assert.rejects(charts.resolve(ask('^7')), {
    code: 'ChartNotFound',
    message: /No version is in "\^7".*1\.0\.0/,
  });
  await assert.rejects(charts.resolve({ origin: { type: 'repository', repository: site.url, name: 'wbe' } }), {
    code: 'ChartNotFound',
    message: /has no chart wbe/,
  });
  await assert.rejects(charts.resolve({ origin: { type: 'repository', repository: `${site.url}/x`, name: 'web' } }), {
    code: 'ChartNotFound',
    message: /has no index of charts at .*\/x\/index\.yaml \(404\)/,
  });
});

test('an index of 50 MB is read in parts: the loop goes on, and memory stays bounded', async (t) => {
  t.after(() => shop.close());
  await publish(['1.0.0']);
  const [head = '', entry = ''] = (site.files.get('/index.yaml') ?? '').toString().split(/(?<=entries:\n)/);
  const item = (name: string): string =>
    `  ${name}:\n${`  - apiVersion: v2\n    name: ${name}\n    description: ${'x'.repeat(400)}\n    version: 1.0.0\n    urls:\n    - ${name}.tgz\n`.repeat(20)}`;
  const many = Array.from({ length: 5400 }, (_, at) => item(`a${at}`)).join('');
  site.files.set('/index.yaml', Buffer.from(`${head}${many}${entry}`));
  assert.ok((site.files.get('/index.yaml')?.length ?? 0) > 48 * 1024 * 1024);
  const charts = shop.open();
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let most = before;
  const counted = countTurns();
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 5);
  assert.equal((await charts.resolve(ask('1.0.0'))).version, '1.0.0');
  clearInterval(watch);
  const { turns, longest } = counted();
  assert.ok(turns >= 5, `${turns} turns`);
  assert.ok(longest < 0.2, `${longest} of the work in one go`);
  assert.ok(most - before < 300 * 1024 * 1024, `${(most - before) / 1024 / 1024} MiB more`);
});

test('an index that another program wrote is read as a whole, up to a size', async (t) => {
  t.after(() => shop.close());
  const charts = shop.open();
  const flow = 'entries: {web: [{version: 1.0.0, urls: [a.tgz]}]}\n';
  const alias = 'entries:\n  a:\n  - version: 2.0.0\n    urls: &u [a.tgz]\n  web:\n  - version: 1.0.0\n    urls: *u\n';
  for (const [at, text] of [
    flow,
    alias,
    JSON.stringify({ entries: { web: [{ version: '1.0.0', urls: ['a.tgz'] }] } }),
  ].entries()) {
    site.files.set(`/${at}/index.yaml`, Buffer.from(text));
    const origin = { type: 'repository' as const, repository: `${site.url}/${at}`, name: 'web' };
    assert.equal((await charts.resolve({ origin })).version, '1.0.0');
  }
  site.files.set('/index.yaml', Buffer.concat([Buffer.from(flow), Buffer.alloc(9 << 20, '#')]));
  await assert.rejects(charts.resolve(ask()), { code: 'ChartRefused', message: /helm repo index/ });
  site.files.set('/y/index.yaml', Buffer.from('<html>not here</html>'));
  const origin = { type: 'repository' as const, repository: `${site.url}/y`, name: 'web' };
  await assert.rejects(charts.resolve({ origin }), { code: 'ChartRefused', message: /no repository of charts/ });
});

test('an index under a tag that was damaged, or whose file is gone, is fetched anew', async (t) => {
  t.after(() => shop.close());
  await publish(['1.0.0']);
  await shop.open().resolve(ask());
  const folder = join(shop.path, 'cache/indexes');
  for (const damage of [
    (name: string) => (name.endsWith('.tag') ? writeFile(join(folder, name), '{') : undefined),
    (name: string) => (name.endsWith('.yaml') ? rm(join(folder, name)) : undefined),
  ]) {
    for (const name of await readdir(folder)) await damage(name);
    assert.equal((await shop.open().resolve(ask())).version, '1.0.0');
  }
  assert.deepEqual(site.requests, Array(3).fill('GET /index.yaml 200'));
});

test('a look that is fresh asks again; another within minutes does not', async (t) => {
  t.after(() => shop.close());
  await publish(['1.0.0']);
  const clock = new FakeClock();
  const charts = shop.open({ clock });
  assert.equal((await charts.resolve(ask('1.x'))).version, '1.0.0');
  await publish(['1.1.0']);
  assert.equal((await charts.resolve(ask('1.x'))).version, '1.0.0');
  assert.equal(site.requests.length, 1);
  assert.equal((await charts.resolve(ask('1.x'), { fresh: true })).version, '1.1.0');
  await publish(['1.2.0']);
  await clock.advance(6 * 60_000);
  assert.equal((await charts.resolve(ask('1.x'))).version, '1.2.0');
  assert.equal(site.requests.length, 3);
});

test('a server that does not answer in time, and one that fails, are tried again later', async (t) => {
  t.after(() => shop.close());
  site.intercept = () => true;
  await assert.rejects(shop.open({ timeoutMs: 300 }).resolve(ask()), {
    code: 'ChartFetchFailed',
    retry: true,
    message: /did not end within 0\.3 s/,
  });
  site.intercept = (_, response) => {
    response.writeHead(503, { 'retry-after': '7' }).end();
    return true;
  };
  await assert.rejects(shop.open().resolve(ask()), { code: 'ChartFetchFailed', retry: true, retryAfterMs: 7000 });
});

test('a chart that is not the one that was asked for is refused', async (t) => {
  t.after(() => shop.close());
  const charts = shop.open();
  for (const [archive, message] of [
    [chartTgz('other', '1.0.0'), /gave the chart other for web/],
    [chartTgz('web', '1.0.1'), /was to be version 1\.0\.0, but its Chart\.yaml says 1\.0\.1/],
    [tgz([{ path: '../x', data: '' }]), /leads out of its folder/],
  ] as const) {
    site.files.set('/index.yaml', Buffer.from('entries:\n  web:\n  - version: 1.0.0\n    urls: [web.tgz]\n'));
    site.files.set('/web.tgz', archive);
    await assert.rejects(charts.fetch(ask('1.0.0'), await charts.resolve(ask('1.0.0'))), {
      code: 'ChartRefused',
      message,
    });
  }
});

test('a certificate of ours is shown to its host, and to nobody that it leads to', async (t) => {
  t.after(() => shop.close());
  const { ca, cert, key } = await makeCertificates(shop.path);
  const [own, other] = await Promise.all([
    startWebsite({ tls: { key, cert, ca, requestCert: true, rejectUnauthorized: false } }),
    startWebsite({ tls: { key, cert, ca, requestCert: true, rejectUnauthorized: false } }),
  ]);
  t.after(() => Promise.all([own.close(), other.close()]));
  const shown: boolean[] = [];
  const note = (request: IncomingMessage): boolean => {
    shown.push((request.socket as TLSSocket).getPeerCertificate().subject !== undefined);
    return false;
  };
  own.intercept = note;
  other.intercept = note;
  own.files.set(
    '/index.yaml',
    Buffer.from(`entries:\n  web:\n  - version: 1.0.0\n    urls: ["${other.url}/web.tgz"]\n`),
  );
  other.files.set('/web.tgz', chartTgz('web', '1.0.0'));
  const credentials = { ca, clientCert: cert, clientKey: key };
  const request: ChartRequest = { origin: { type: 'repository', repository: own.url, name: 'web', credentials } };
  const charts = shop.open();
  await charts.fetch(request, await charts.resolve(request));
  assert.deepEqual(shown, [true, false]);
});

test('an index that only says what lies in a registry leads there', async (t) => {
  t.after(() => shop.close());
  const registry = await startRegistry(shop.path);
  t.after(() => registry.stop());
  await publish(['1.0.0']);
  await shop.helm('push', 'repo/web-1.0.0.tgz', `oci://${registry.host}/charts`, '--plain-http');
  site.files.set(
    '/index.yaml',
    Buffer.from(`entries:\n  web:\n  - version: 1.0.0\n    urls: ["oci://${registry.host}/charts/web:1.0.0"]\n`),
  );
  const charts = shop.open();
  assert.equal((await charts.fetch(ask(), await charts.resolve(ask()))).version, '1.0.0');
});

test('addresses that are not allowed are refused, by name, as a number, and behind a redirect', async (t) => {
  t.after(() => shop.close());
  const charts = shop.open({ addresses: { http: true } });
  for (const host of [
    '127.0.0.1',
    'localhost',
    '2130706433',
    '0x7f.1',
    '[::ffff:127.0.0.1]',
    '169.254.169.254',
    '10.0.0.1',
  ]) {
    const origin = { type: 'repository' as const, repository: `http://${host}:${site.port}`, name: 'web' };
    await assert.rejects(charts.resolve({ origin }), { code: 'ChartRefused', retry: false }, host);
  }
  assert.deepEqual(site.requests, []);
  const narrow = shop.open({ addresses: { http: true, addresses: ['127.0.0.1/32'] } });
  site.intercept = (_, response) => {
    response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
    return true;
  };
  await assert.rejects(narrow.resolve(ask()), {
    code: 'ChartRefused',
    message: /169\.254\.169\.254 has a link-local address/,
  });
});
