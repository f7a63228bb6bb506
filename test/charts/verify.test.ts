import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { ChartRequest, Charts } from '../../src/charts/charts.ts';
import { textTree } from '../declare/text-tree.ts';
import { sha256 } from './support/archives.ts';
import { type Registry, startRegistry } from './support/registry.ts';
import { startWebsite, type Website } from './support/website.ts';
import { CHART, openWorkshop, type Workshop } from './support/workshop.ts';

const run = promisify(execFile);
let shop: Workshop;
let registry: Registry;

before(async () => {
  shop = await openWorkshop();
  registry = await startRegistry(shop.path);
});
after(async () => {
  await registry.stop();
  await shop.close();
});

async function get(charts: Charts, request: ChartRequest): Promise<string> {
  return (await charts.fetch(request, await charts.resolve(request))).version;
}

const gpg = spawnSync('gpg', ['--version']).status === 0;

describe('provenance, as helm package --sign writes it', { skip: gpg ? false : 'the program gpg is missing' }, () => {
  let site: Website;
  let ours: string;
  let theirs: string;

  before(async () => {
    site = await startWebsite();
    const home = join(shop.path, 'gnupg');
    await mkdir(home, { mode: 0o700 });
    const keys = async (...args: string[]): Promise<string> =>
      (await run('gpg', ['--homedir', home, '--batch', '--pinentry-mode', 'loopback', '--passphrase', '', ...args]))
        .stdout;
    for (const name of ['ours', 'theirs'])
      await keys('--quick-generate-key', `${name} <${name}@example.com>`, 'rsa2048', 'sign', 'never');
    ours = await keys('--armor', '--export', 'ours');
    theirs = await keys('--armor', '--export', 'theirs');
    await run('gpg', [
      '--homedir',
      home,
      '--batch',
      '--pinentry-mode',
      'loopback',
      '--passphrase',
      '',
      '--output',
      join(shop.path, 'secret.gpg'),
      '--export-secret-keys',
      'ours',
    ]);
    await run('gpgconf', ['--homedir', home, '--kill', 'all']);
    for (const version of ['1.0.0', '2.0.0']) {
      await shop.write({ 'src/web/Chart.yaml': CHART('web', version) });
      const signed = version === '1.0.0' ? ['--sign', '--key', 'ours', '--keyring', 'secret.gpg'] : [];
      await shop.helm('package', 'src/web', '-d', 'repo', ...signed);
    }
    await shop.helm('repo', 'index', 'repo');
    for (const file of ['index.yaml', 'web-1.0.0.tgz', 'web-1.0.0.tgz.prov', 'web-2.0.0.tgz']) {
      site.files.set(`/${file}`, await readFile(join(shop.path, 'repo', file)));
    }
    await shop.helm('push', 'repo/web-1.0.0.tgz', `oci://${registry.host}/signed`, '--plain-http');
  });
  after(() => site.close());

  const ask = (version: string, ...keys: string[]): ChartRequest => ({
    origin: { type: 'repository', repository: site.url, name: 'web', version },
    verify: { provider: 'provenance', keys },
  });

  test('a chart signed by one of the keys is taken, and not verified again', async () => {
    const charts = shop.open();
    assert.equal(await get(charts, ask('1.0.0', theirs, ours)), '1.0.0');
    site.requests.length = 0;
    assert.equal(await get(shop.open(), ask('1.0.0', theirs, ours)), '1.0.0');
    assert.deepEqual(site.requests, ['GET /index.yaml 304']);
  });

  test('a chart signed by somebody else, or by nobody, is not', async () => {
    const charts = shop.open();
    await assert.rejects(get(charts, ask('1.0.0', theirs)), {
      code: 'ChartUnverified',
      message: /Helm says: .*(unknown|signature)/i,
    });
    await assert.rejects(get(charts, ask('2.0.0', ours)), {
      code: 'ChartUnverified',
      message: /no provenance.*helm package --sign/,
    });
    await assert.rejects(get(charts, ask('1.0.0', 'no key')), {
      code: 'ChartRefused',
      message: /gpg --armor --export/,
    });
  });

  test('an archive that changed after it was signed is not taken', async () => {
    const charts = shop.open();
    const archive = site.files.get('/web-2.0.0.tgz') ?? Buffer.alloc(0);
    const prov = site.files.get('/web-1.0.0.tgz.prov') ?? Buffer.alloc(0);
    const tree = textTree({ 'web.tgz': archive, 'web.tgz.prov': prov });
    await assert.rejects(
      get(charts, { origin: { type: 'git', tree, path: 'web.tgz' }, verify: { provider: 'provenance', keys: [ours] } }),
      {
        code: 'ChartUnverified',
      },
    );
  });

  test('the provenance is found in a registry and in Git as well', async () => {
    const charts = shop.open();
    const verify = { provider: 'provenance' as const, keys: [ours] };
    assert.equal(
      await get(charts, {
        origin: { type: 'oci', url: `oci://${registry.host}/signed/web`, version: '1.0.0' },
        verify,
      }),
      '1.0.0',
    );
    const tree = textTree({
      'web.tgz': site.files.get('/web-1.0.0.tgz') ?? '',
      'web.tgz.prov': site.files.get('/web-1.0.0.tgz.prov') ?? '',
    });
    assert.equal(await get(charts, { origin: { type: 'git', tree, path: 'web.tgz' }, verify }), '1.0.0');
  });
});

describe('signatures of cosign', () => {
  const keys = {
    ecdsa: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
    ed25519: generateKeyPairSync('ed25519'),
  };
  const pem = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString();

  /** Pushes a chart and, as `cosign sign --key` does, an image with its signature beside it. */
  async function pushSigned(name: string, key: KeyObject | undefined, about?: string): Promise<ChartRequest['origin']> {
    await shop.write({ [`src/${name}/Chart.yaml`]: CHART(name, '1.0.0') });
    await shop.helm('package', `src/${name}`, '-d', 'packed');
    await shop.helm('push', `packed/${name}-1.0.0.tgz`, `oci://${registry.host}/cosign`, '--plain-http');
    const url = `oci://${registry.host}/cosign/${name}`;
    const origin = { type: 'oci' as const, url, version: '1.0.0' };
    const { id } = await shop.open().resolve({ origin });
    if (key === undefined) return origin;
    const payload = Buffer.from(
      JSON.stringify({
        critical: {
          identity: { 'docker-reference': `${registry.host}/cosign/${name}` },
          image: { 'docker-manifest-digest': about ?? id },
          type: 'cosign container image signature',
        },
        optional: null,
      }),
    );
    const signature = sign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', payload, key).toString('base64');
    const base = `http://${registry.host}/v2/cosign/${name}`;
    const config = Buffer.from('{}');
    for (const blob of [payload, config]) await upload(base, blob);
    const manifest = {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: { mediaType: 'application/vnd.oci.image.config.v1+json', size: config.length, digest: sha256(config) },
      layers: [
        {
          mediaType: 'application/vnd.dev.cosign.simplesigning.v1+json',
          size: payload.length,
          digest: sha256(payload),
          annotations: { 'dev.cosignproject.cosign/signature': signature },
        },
      ],
    };
    const put = await fetch(`${base}/manifests/${id.replace(':', '-')}.sig`, {
      method: 'PUT',
      headers: { 'content-type': manifest.mediaType },
      body: JSON.stringify(manifest),
    });
    assert.equal(put.status, 201);
    return origin;
  }

  async function upload(base: string, blob: Buffer): Promise<void> {
    const begun = await fetch(`${base}/blobs/uploads/`, { method: 'POST' });
    const location = new URL(begun.headers.get('location') ?? '', base);
    location.searchParams.set('digest', sha256(blob));
    assert.equal((await fetch(location, { method: 'PUT', body: new Uint8Array(blob) })).status, 201);
  }

  for (const [kind, { privateKey, publicKey }] of Object.entries(keys)) {
    test(`a chart signed with an ${kind} key is taken with that key, and refused with another`, async () => {
      const origin = await pushSigned(`by-${kind}`, privateKey);
      const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
      const charts = shop.open();
      await assert.rejects(get(charts, { origin, verify: { provider: 'cosign', keys: [pem(other)] } }), {
        code: 'ChartUnverified',
        message: /No signature of sha256:.* is by one of the keys/,
      });
      assert.equal(
        await get(charts, { origin, verify: { provider: 'cosign', keys: [pem(other), pem(publicKey)] } }),
        '1.0.0',
      );
    });
  }

  test('a signature of another chart does not count, and neither does none', async () => {
    const verify = { provider: 'cosign' as const, keys: [pem(keys.ecdsa.publicKey)] };
    const moved = await pushSigned('moved', keys.ecdsa.privateKey, `sha256:${'0'.repeat(64)}`);
    await assert.rejects(get(shop.open(), { origin: moved, verify }), { code: 'ChartUnverified' });
    const unsigned = await pushSigned('unsigned', undefined);
    await assert.rejects(get(shop.open(), { origin: unsigned, verify }), {
      code: 'ChartUnverified',
      message: /has no signature.*cosign sign --key/,
    });
    await assert.rejects(get(shop.open(), { origin: unsigned, verify: { ...verify, keys: ['x'] } }), {
      code: 'ChartRefused',
    });
    const repository = { type: 'repository' as const, repository: 'https://charts.example.com', name: 'web' };
    await assert.rejects(get(shop.open(), { origin: repository, verify }), {
      code: 'ChartRefused',
      message: /OCI registries only/,
    });
  });

  test('a chart that was fetched without a signature is still held to one when it is asked for', async () => {
    const origin = await pushSigned('plain', undefined);
    const charts = shop.open();
    await get(charts, { origin });
    await assert.rejects(get(charts, { origin, verify: { provider: 'cosign', keys: [pem(keys.rsa.publicKey)] } }), {
      code: 'ChartUnverified',
    });
  });
});
