import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { packageArtifact } from '../../src/expansion/artifact.ts';
import { readExpansion } from '../../src/expansion/format.ts';
import { ociMembers, type PackagePlace, parsePackageUrl } from '../../src/expansion/oci-package.ts';
import { openRegistry, type Registry } from '../../src/registry/registry.ts';
import { sha256 } from '../charts/support/archives.ts';
import { ADA, startRegistry } from '../charts/support/registry.ts';
import { startWebsite } from '../charts/support/website.ts';
import { espalier } from '../cli/support/espalier.ts';
import { makeCertificates } from '../git/support/authority.ts';
import { writes } from '../mirror/support/front.ts';
import { digestAt, pushImage } from '../mirror/support/images.ts';
import { writeFiles } from '../mirror/support/platform.ts';
import { tempDir } from '../support/tempdir.ts';
import { frontScene } from './support/front-scene.ts';
import { crane, demoPackage } from './support/package.ts';

const scene = frontScene();

const expansion = (...args: string[]) => espalier(['expansion', ...args]);

async function declared(at: PackagePlace, registry: Registry): Promise<Buffer> {
  for await (const { path, content } of ociMembers(at, registry))
    if (path === 'expansion.yaml') return Buffer.concat(await Array.fromAsync(content()));
  throw new Error('it has no expansion.yaml');
}

describe('a package in a registry', () => {
  test('has one digest, from a folder, from its .tgz and from a registry, and every command reads it', async (t) => {
    const dir = await tempDir(t);
    const demo = await demoPackage(dir);
    const at = (name: string) => `oci://${scene.front.host}/expansions/${name}`;
    assert.equal((await expansion('push', demo, '--package', at('demo'))).code, 0);
    const digest = await digestAt(scene.registry.host, 'expansions/demo', 'v1.0');
    assert.equal((await expansion('build', demo, '-o', join(dir, 'demo.tgz'))).code, 0);
    const images = ['--images', `${scene.front.host}/images`];
    const packed = await expansion('push', join(dir, 'demo.tgz'), '--package', at('packed'), ...images);
    assert.equal(packed.code, 0, packed.stderr);
    const copied = await expansion('push', `${at('demo')}:v1.0`, '--package', `${at('copied')}:kept`, ...images);
    assert.match(copied.stdout, /^there {4}docker\.io\/demo\/alpine:3\.10 → /m);
    assert.equal(copied.code, 0, copied.stderr);
    assert.equal(await digestAt(scene.registry.host, 'expansions/packed', 'v1.0'), digest);
    assert.equal(await digestAt(scene.registry.host, 'expansions/copied', 'kept'), digest);

    const checked = await expansion('check', `${at('demo')}:v1.0`);
    assert.deepEqual([checked.code, checked.stderr], [0, '6 files, no faults\n'], checked.stdout);
    const shown = await expansion('show', `${at('demo')}@${digest}`, '-o', 'json');
    const { files } = JSON.parse(shown.stdout) as { files: object };
    assert.deepEqual(Object.keys(files), [
      ...['SHA256SUMS', 'charts/demo-0.1.0.tgz', 'expansion.yaml', 'files/etc/empty.conf'],
      ...['hooks/post-install.tmpl', 'images.tar.gz'],
    ]);
    scene.front.requests.length = 0;
    await writeFiles(dir, { 'tke.json': '{}' });
    const merged = await expansion('merge', `${at('demo')}:v1.0`, '--into', join(dir, 'tke.json'), '--write');
    assert.equal(merged.code, 0, merged.stderr);
    assert.equal(await readFile(join(dir, 'hooks/post-install'), 'utf8'), '#!/bin/sh\necho harbor.local\n');
    assert.equal(scene.front.requests.length, 5, 'the manifest, expansion.yaml, the checksums, the file and the hook');
  });

  test('is what ORAS writes: a manifest with its type, and a title on each layer', async (t) => {
    const demo = await demoPackage(await tempDir(t));
    await expansion('push', demo, '--package', `oci://${scene.front.host}/form`);
    const manifest = JSON.parse(await crane('manifest', `${scene.registry.host}/form:v1.0`)) as {
      artifactType: string;
      config: { mediaType: string; digest: string };
      layers: { mediaType: string; annotations: Record<string, string> }[];
      annotations: object;
    };
    assert.equal(manifest.artifactType, 'application/vnd.espalier.expansion.v1');
    assert.equal(manifest.config.mediaType, 'application/vnd.espalier.expansion.config.v1+json');
    assert.deepEqual(manifest.annotations, {
      'org.opencontainers.image.title': 'demo',
      'org.opencontainers.image.version': 'v1.0',
    });
    const typed = manifest.layers.map(({ mediaType, annotations }) => [
      annotations['org.opencontainers.image.title'],
      mediaType.replace(/^application\/vnd\./, ''),
    ]);
    assert.deepEqual(Object.fromEntries(typed), {
      SHA256SUMS: 'espalier.expansion.file.v1',
      'charts/demo-0.1.0.tgz': 'cncf.helm.chart.content.v1.tar+gzip',
      'expansion.yaml': 'espalier.expansion.file.v1',
      'files/etc/empty.conf': 'espalier.expansion.file.v1',
      'hooks/post-install.tmpl': 'espalier.expansion.file.v1',
      'images.tar.gz': 'espalier.expansion.images.v1.tar+gzip',
    });
    const config = JSON.parse(await crane('blob', `${scene.registry.host}/form@${manifest.config.digest}`)) as object;
    assert.equal((config as { expansion_name: string }).expansion_name, 'demo');
  });

  test('that is there as the same version is not replaced, but for a tag that is named; a part that is there is not sent', async (t) => {
    const dir = await tempDir(t);
    const to = `oci://${scene.front.host}/moved`;
    await expansion('push', await demoPackage(dir), '--package', to);
    const before = await digestAt(scene.registry.host, 'moved', 'v1.0');
    const other = await demoPackage(join(dir, 'other'), { 'files/etc/empty.conf': 'no longer' });
    const refused = await expansion('push', other, '--package', to);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /has another package as v1\.0: .*give it another expansion_version, or name the tag/);
    assert.equal(await digestAt(scene.registry.host, 'moved', 'v1.0'), before);
    scene.front.requests.length = 0;
    assert.equal((await expansion('push', other, '--package', `${to}:v1.0`)).code, 0);
    assert.notEqual(await digestAt(scene.registry.host, 'moved', 'v1.0'), before);
    assert.equal(
      writes(scene.front).filter((one) => /^PUT .*uploads/.test(one)).length,
      2,
      'the file and the checksums',
    );
  });

  test('gives the files that are asked for and no others, each proven, and with a login', async (t) => {
    const demo = await demoPackage(await tempDir(t));
    await expansion('push', demo, '--package', `oci://${scene.registry.host}/agent/demo`);
    const client = openRegistry({ loginFor: async () => undefined });
    t.after(() => client.close());
    const at = parsePackageUrl(`oci://${scene.front.host}/agent/demo:v1.0`);
    assert.ok(at?.reference !== undefined);
    const place = { ...at, reference: at.reference };
    scene.front.requests.length = 0;
    assert.match((await declared(place, client)).toString(), /^expansion_name: demo$/m);
    assert.equal(scene.front.requests.length, 2, 'the manifest and the file');
    scene.front.meddle = (asked, answer) => {
      if (!/\/blobs\//.test(asked.url ?? '')) return false;
      answer.writeHead(200).end('expansion_name: evil'.padEnd(212));
      return true;
    };
    await assert.rejects(declared(place, client), { code: 'ImageDamaged' });
    scene.front.meddle = undefined;
    await assert.rejects(declared({ ...place, reference: 'v9' }, client), {
      code: 'RegistryNotFound',
      message: /has no package .*agent\/demo:v9; check its path and version/,
    });
    const { digest } = await pushImage(scene.registry.host, 'agent/image:1', 'image');
    const image = { place: { host: scene.registry.host, repository: 'agent/image' }, reference: digest };
    await assert.rejects(declared(image, client), {
      code: 'ExpansionInvalid',
      message: /no expansion/,
    });

    const locked = await startRegistry(await tempDir(t), { htpasswd: ADA.line });
    t.after(() => locked.stop());
    const behind = { ...place, place: { host: locked.host, repository: 'agent/demo' } };
    await assert.rejects(declared(behind, client), { code: 'RegistryAuthFailed' });
    const ada = openRegistry({ loginFor: async () => ({ username: ADA.username, password: ADA.password }) });
    t.after(() => ada.close());
    await assert.rejects(declared(behind, ada), { code: 'RegistryNotFound' });
    const away = openRegistry({ loginFor: async () => undefined, addresses: {} });
    t.after(() => away.close());
    await assert.rejects(declared(place, away), /127\.0\.0\.1/);
  });

  test('behind TLS is had with an authority and a certificate of ours, which a store that it leads to does not see', async (t) => {
    const { ca, cert, key } = await makeCertificates(await tempDir(t));
    const tls = { key, cert, ca, requestCert: true, rejectUnauthorized: false };
    const [own, store] = await Promise.all([startWebsite({ tls }), startWebsite({ tls })]);
    t.after(() => Promise.all([own.close(), store.close()]));
    const shown: boolean[] = [];
    const note = (request: IncomingMessage): boolean => {
      shown.push((request.socket as TLSSocket).getPeerCertificate().subject !== undefined);
      return false;
    };
    const { expansion } = readExpansion('values: {}');
    const text = Buffer.from('values: {}');
    const sums = { size: text.length, sha256: sha256(text).slice('sha256:'.length) };
    const { manifest } = packageArtifact(expansion, new Map([['expansion.yaml', sums]]));
    own.files.set('/v2/demo/manifests/v1', Buffer.from(manifest.bytes));
    own.intercept = (request, response) => {
      note(request);
      if (!/\/blobs\//.test(request.url ?? '')) return false;
      response.writeHead(307, { location: `${store.url}/stored` }).end();
      return true;
    };
    store.intercept = note;
    store.files.set('/stored', text);
    const client = openRegistry({ loginFor: async () => undefined, ca, clientCert: cert, clientKey: key });
    t.after(() => client.close());
    const at = { place: { host: `127.0.0.1:${own.port}`, repository: 'demo' }, reference: 'v1' };
    assert.deepEqual(await declared(at, client), text);
    assert.deepEqual(shown, [true, true, false]);
  });

  test('is named with its version, or the command says how', async () => {
    for (const url of ['oci://harbor.local/demo', 'oci://harbor.local', 'oci://harbor.local/demo:v1 0']) {
      const { code, stderr } = await expansion('check', url);
      assert.equal(code, 64, url);
      assert.match(stderr, /names no package of a registry: write oci:/);
    }
  });
});
