import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import type { ChartRequest } from '../../src/charts/charts.ts';
import { makeCertificates } from '../git/support/authority.ts';
import { chartTgz, sha256 } from './support/archives.ts';
import { ADA, type Registry, startRegistry } from './support/registry.ts';
import { startWebsite } from './support/website.ts';
import { CHART, openWorkshop, type Workshop } from './support/workshop.ts';

let shop: Workshop;
let open: Registry;
let guarded: Registry;

before(async () => {
  shop = await openWorkshop();
  open = await startRegistry(shop.path);
  guarded = await startRegistry(shop.path, { htpasswd: ADA.line });
  for (const version of ['1.0.0', '1.1.0', '1.2.0+build.5', '2.0.0-rc.1']) {
    await shop.write({
      'src/web/Chart.yaml': CHART('web', version),
      'src/web/templates/a.yaml': '{{ lookup "v1" "Pod" "a" "b" }}',
    });
    await shop.helm('package', 'src/web', '-d', 'packed');
    await shop.helm('push', `packed/web-${version}.tgz`, `oci://${open.host}/charts`, '--plain-http');
  }
  // A tag that moves, as images have them, is no version that a range may choose.
  const { body } = await get(`http://${open.host}/v2/charts/web/manifests/1.0.0`);
  assert.equal(await put(`http://${open.host}/v2/charts/web/manifests/1.1`, body), 201);
  await shop.helm('registry', 'login', guarded.host, '-u', ADA.username, '-p', ADA.password, '--plain-http');
  await shop.helm('push', 'packed/web-1.0.0.tgz', `oci://${guarded.host}/charts`, '--plain-http');
});
after(async () => {
  await Promise.all([open.stop(), guarded.stop()]);
  await shop.close();
});

const TYPE = 'application/vnd.oci.image.manifest.v1+json';

async function get(url: string): Promise<{ body: string }> {
  return { body: await (await fetch(url, { headers: { accept: TYPE } })).text() };
}

async function put(url: string, body: string): Promise<number> {
  return (await fetch(url, { method: 'PUT', headers: { 'content-type': TYPE }, body })).status;
}

function ask(registry: Registry, version?: string, more: Partial<ChartRequest> = {}, credentials = {}): ChartRequest {
  const url = `oci://${registry.host}/charts/web`;
  return { origin: { type: 'oci', url, credentials, ...(version === undefined ? {} : { version }) }, ...more };
}

test('a chart that helm pushed, by range, by exact version and with a plus in its version', async () => {
  const charts = shop.open();
  for (const [version, expected] of [
    ['1.0.x', '1.0.0'],
    ['1.1.0', '1.1.0'],
    ['1.2.0+build.5', '1.2.0+build.5'],
    [undefined, '1.2.0+build.5'],
    ['1.0', '1.0.0'],
    ['>=2.0.0-0', '2.0.0-rc.1'],
  ]) {
    const resolved = await charts.resolve(ask(open, version));
    assert.equal(resolved.version, expected);
    const chart = await charts.fetch(ask(open, version), resolved);
    assert.deepEqual([chart.name, chart.version, chart.usesLookup], ['web', expected, true]);
    assert.equal(chart.digest, sha256(await readFile(join(shop.path, `packed/web-${expected}.tgz`))));
  }
});

test('a tag of exactly that name comes before the versions that it would include', async () => {
  const charts = shop.open();
  const { body } = await get(`http://${open.host}/v2/charts/web/manifests/1.0.0`);
  for (const tag of ['v1.34', 'v1.34-eks', 'v1.35.2']) {
    assert.equal(await put(`http://${open.host}/v2/charts/web/manifests/${tag}`, body), 201);
    const resolved = await charts.resolve(ask(open, tag));
    assert.equal(resolved.version, tag);
    assert.equal((await charts.fetch(ask(open, tag), resolved)).version, '1.0.0', 'the chart has a version of its own');
  }
  const exact = await charts.resolve(ask(open, '1.1'));
  assert.deepEqual([exact.version, (await charts.fetch(ask(open, '1.1'), exact)).version], ['1.1', '1.0.0']);
  await assert.rejects(charts.resolve(ask(open, 'v1.36')), { code: 'ChartNotFound' });
  const { version } = await charts.resolve(ask(open, 'v1.35'));
  assert.equal(version, 'v1.35.2', 'where there is no such tag it is a range');
});

test('the tags of a repository are listed whole, on many pages, with the login that it wants', async (t) => {
  const { username, password } = ADA;
  const charts = shop.open();
  const tags = await charts.listTags(ask(open));
  assert.ok(['1.0.0', '1.1', '1.2.0_build.5'].every((tag) => tags.includes(tag)));
  assert.deepEqual(await charts.listTags(ask(guarded, undefined, {}, { username, password })), ['1.0.0']);
  await assert.rejects(charts.listTags(ask(guarded)), { code: 'ChartAuthFailed', message: /asks for credentials/ });
  const none = { origin: { type: 'oci' as const, url: `oci://${open.host}/charts/none` } };
  await assert.rejects(charts.listTags(none), { code: 'ChartNotFound' });
  const registry = await startWebsite();
  t.after(() => registry.close());
  registry.intercept = (request, response) => {
    const last = Number(new URL(request.url ?? '', registry.url).searchParams.get('last') ?? 0);
    const page = Array.from({ length: 1000 }, (_, at) => `v1.${last + at}`);
    const link = { link: `</v2/many/tags/list?n=1000&last=${last + 1000}>; rel="next"` };
    response.writeHead(200, last < 9000 ? link : {}).end(JSON.stringify({ tags: page }));
    return true;
  };
  const origin = { type: 'oci' as const, url: `oci://127.0.0.1:${registry.port}/many` };
  assert.equal((await charts.listTags({ origin })).length, 10_000);
  registry.intercept = () => true;
  const impatient = shop.open({ timeoutMs: 500 });
  await assert.rejects(impatient.listTags({ origin }), { code: 'ChartFetchFailed', retry: true });
});

test('a registry that asks who we are gets the credentials that it is given, and says when they are missing or wrong', async () => {
  const charts = shop.open();
  const { username, password } = ADA;
  const chart = await charts.fetch(
    ask(guarded, '1.0.0', {}, { username, password }),
    await charts.resolve(ask(guarded, '1.0.0', {}, { username, password })),
  );
  assert.equal(chart.version, '1.0.0');
  await assert.rejects(charts.resolve(ask(guarded, '1.0.0')), {
    code: 'ChartAuthFailed',
    message: /asks for credentials/,
  });
  await assert.rejects(charts.resolve(ask(guarded, '1.0.0', {}, { username, password: 'wrong-secret' })), (error) => {
    assert.match(String(error), /did not accept the credentials/);
    assert.ok(!inspect(error, { depth: 9 }).includes('wrong-secret'));
    return true;
  });
});

test('what somebody fetched with credentials is not given to somebody without them', async () => {
  const { username, password } = ADA;
  const charts = shop.open();
  const request = ask(guarded, '1.0.0', {}, { username, password });
  const resolved = await charts.resolve(request);
  await charts.fetch(request, resolved);
  await assert.rejects(charts.fetch(ask(guarded, '1.0.0'), resolved), { code: 'ChartAuthFailed' });
});

test('the digest of the archive or of its manifest may be required; with it nothing is asked after a restart', async () => {
  const charts = shop.open();
  const { id } = await charts.resolve(ask(open, '1.1.0'));
  const { digest } = await charts.fetch(ask(open, '1.1.0'), { version: '1.1.0', id });
  for (const required of [id, digest]) {
    const request = ask(open, '1.x', { digest: required }, { username: required });
    await assert.rejects(
      async () => charts.fetch(request, await charts.resolve(request)),
      { code: 'ChartRefused', message: /is required/ },
      '1.x is another one by now',
    );
    const exact = ask(open, '1.1.0', { digest: required });
    await charts.fetch(exact, await charts.resolve(exact));
  }
  const other = await startRegistry(shop.path);
  await shop.helm('push', 'packed/web-1.1.0.tgz', `oci://${other.host}/charts`, '--plain-http');
  const request = ask(other, '1.1.0', { digest });
  const before = shop.open();
  await before.fetch(request, await before.resolve(request));
  await other.stop();
  const afterwards = shop.open();
  assert.equal((await afterwards.fetch(request, await afterwards.resolve(request))).digest, digest);
});

test('no such chart, no such version, and an image that is no chart', async () => {
  const charts = shop.open();
  await assert.rejects(charts.resolve(ask(open, '9.9.9')), {
    code: 'ChartNotFound',
    message: /has no fitting version.*1\.2\.0/,
  });
  const origin = { type: 'oci' as const, url: `oci://${open.host}/charts/none` };
  await assert.rejects(charts.resolve({ origin }), { code: 'ChartNotFound' });
  for (const url of [
    'oci://host',
    'oci://u:p@host/a',
    'oci://host/a:1',
    'oci://host/../a',
    'oci://host/A b',
    'oci://ho?st/a',
  ]) {
    await assert.rejects(charts.resolve({ origin: { type: 'oci', url } }), { code: 'ChartRefused' }, url);
  }
});

test('a registry with a certificate of its own authority is trusted when that authority is given', async (t) => {
  const { ca } = await makeCertificates(shop.path);
  const secure = await startRegistry(shop.path, {
    tls: { certificate: join(shop.path, 'server.crt'), key: join(shop.path, 'server.key') },
  });
  t.after(() => secure.stop());
  await shop.helm('push', 'packed/web-1.0.0.tgz', `oci://${secure.host}/charts`, '--ca-file', 'ca.crt');
  const charts = shop.open();
  assert.equal((await charts.resolve(ask(secure, '1.0.0', {}, { ca }))).version, '1.0.0');
  const strict = shop.open({ addresses: { addresses: ['127.0.0.0/8'] } });
  const wrong = ask(secure, '1.0.0', {}, { ca: ca.slice(0, 0) });
  await assert.rejects(strict.resolve(wrong), { code: 'ChartFetchFailed', message: /not trusted.*ca\.crt/ });
});

test('a token from another host, tags on several pages, blobs elsewhere: the login is shown where tokens are, never to the store', async (t) => {
  const [registry, tokens, store] = await Promise.all([startWebsite(), startWebsite(), startWebsite()]);
  t.after(() => Promise.all([registry.close(), tokens.close(), store.close()]));
  const archive = chartTgz('web', '1.5.0');
  const manifest = Buffer.from(
    JSON.stringify({
      config: { mediaType: 'application/vnd.cncf.helm.config.v1+json' },
      layers: [{ mediaType: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip', digest: sha256(archive) }],
    }),
  );
  store.files.set('/blob', archive);
  tokens.intercept = (request, response) => {
    const { searchParams } = new URL(request.url ?? '', tokens.url);
    assert.deepEqual(Object.fromEntries(searchParams), { service: 'reg', scope: 'repository:team/web:pull' });
    const known = request.headers.authorization === `Basic ${Buffer.from('ada:pass-1').toString('base64')}`;
    response.writeHead(known ? 200 : 401).end(JSON.stringify({ token: 'tok-1', expires_in: 300 }));
    return true;
  };
  registry.intercept = (request, response) => {
    const path = request.url ?? '';
    if (request.headers.authorization !== 'Bearer tok-1') {
      response
        .writeHead(401, { 'www-authenticate': `Bearer realm="${tokens.url}/token",service="reg",scope="x"` })
        .end();
    } else if (path.includes('/tags/list')) {
      const last = path.includes('last=');
      const headers = last ? {} : { link: '</v2/team/web/tags/list?last=1.0.0&n=1>; rel="next"' };
      response.writeHead(200, headers).end(JSON.stringify({ tags: [last ? '1.5.0' : '1.0.0'] }));
    } else if (path.includes('/manifests/')) response.writeHead(200).end(manifest);
    else response.writeHead(307, { location: `${store.url}/blob` }).end();
    return true;
  };
  const charts = shop.open();
  const url = `oci://127.0.0.1:${registry.port}/team/web`;
  const request: ChartRequest = {
    origin: { type: 'oci', url, version: '1.x', credentials: { username: 'ada', password: 'pass-1' } },
  };
  const resolved = await charts.resolve(request);
  assert.deepEqual(resolved, { version: '1.5.0', id: sha256(manifest) });
  assert.equal((await charts.fetch(request, resolved)).digest, sha256(archive));
  assert.deepEqual(store.logins, [undefined]);
  assert.equal(tokens.requests.length, 1, 'a token is used until it ends');
  store.files.set('/blob', chartTgz('web', '1.5.0', { other: 'content' }));
  const fresh = shop.open({ cacheDir: join(shop.path, 'other') });
  await assert.rejects(fresh.fetch(request, resolved), {
    code: 'ChartFetchFailed',
    message: /other content than its digest/,
  });
});
