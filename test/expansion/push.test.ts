import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Member, tgz } from '../charts/support/archives.ts';
import { espalier, startEspalier } from '../cli/support/espalier.ts';
import { type Front, writes } from '../mirror/support/front.ts';
import { digestAt, pushImage, pushIndex } from '../mirror/support/images.ts';
import { startMuseum } from '../mirror/support/museum.ts';
import { writeFiles } from '../mirror/support/platform.ts';
import { eventually } from '../support/eventually.ts';
import { tempDir } from '../support/tempdir.ts';
import { frontScene } from './support/front-scene.ts';
import { dockerMembers } from './support/image-archives.ts';
import { crane, demoPackage } from './support/package.ts';

const scene = frontScene();

const push = (from: string, ...args: string[]) => espalier(['expansion', 'push', from, ...args]);

describe('espalier expansion push', () => {
  test('charts, images and the package go where they belong, and a second time nothing is sent', async (t) => {
    const demo = await demoPackage(await tempDir(t));
    const to = `${scene.front.host}/all`;
    const args = ['--charts', `oci://${to}/charts`, '--images', to, '--package', `oci://${to}/expansions/demo`];
    const dry = await push(demo, ...args, '--dry-run');
    assert.deepEqual([dry.code, writes(scene.front)], [1, []], dry.stderr);
    assert.match(dry.stderr, /^4 missing$/m);
    const first = await push(demo, ...args);
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /^copied {3}chart charts\/demo-0\.1\.0\.tgz → oci:\/\/.*\/all\/charts\/demo:0\.1\.0$/m);
    assert.match(first.stdout, /^copied {3}docker\.io\/demo\/alpine:3\.10 → .*\/all\/demo\/alpine:3\.10$/m);
    assert.match(first.stdout, /^copied {3}quay\.io\/team\/db:2 → .*\/all\/team\/db:2$/m);
    assert.match(first.stdout, /^copied {3}package demo → oci:\/\/.*\/all\/expansions\/demo:v1\.0$/m);
    assert.match(first.stderr, new RegExp(`- \\{from: quay\\.io, to: ${to}\\}`));
    for (const image of ['demo/alpine:3.10', 'team/db:2']) await crane('validate', '--remote', `${to}/${image}`);
    const sent = blobsIn(scene.front, '/all/(demo|team)/');
    assert.ok(
      writes(scene.front).some((one) => /POST .*\/uploads\/\?mount=.*from=all%2F(demo|team)%2F\w+ 201$/.test(one)),
    );
    assert.deepEqual([sent.length, new Set(sent).size], [2, 2], 'what both images share is sent once');
    scene.front.requests.length = 0;
    const second = await push(demo, ...args, '-o', 'json');
    assert.deepEqual([second.code, writes(scene.front)], [0, []], second.stderr);
    const { version, results } = JSON.parse(second.stdout) as { version: string; results: { state: string }[] };
    assert.deepEqual(
      [version, results.map(({ state }) => state)],
      ['espalier.dev/push/v1', ['there', 'there', 'there', 'there']],
    );
  });

  test('images of crane keep their digests, also those for several platforms', async (t) => {
    const dir = await tempDir(t);
    const many = await pushIndex(scene.registry.host, 'from/many:1', 'many');
    const one = await pushImage(scene.registry.host, 'from/one:1', 'one');
    await crane('pull', '--format', 'oci', '--annotate-ref', many.image, join(dir, 'layout'));
    await crane('pull', '--format', 'tarball', one.image, join(dir, 'one.tar'));
    const layout = await archived(join(dir, 'layout'), dir);
    const archives = [layout, gzipSync(await readFile(join(dir, 'one.tar')))];
    for (const [index, { image, digest }] of [many, one].entries()) {
      const files = { 'expansion.yaml': `images: ["${image}"]\n`, 'images.tar.gz': archives[index] ?? '' };
      const from = await writeFiles(join(dir, `p${index}`), files);
      const done = await push(from, '--images', `${scene.front.host}/crane`);
      assert.equal(done.code, 0, done.stdout + done.stderr);
      const [, name = ''] = /\/(from\/\w+):1$/.exec(image) ?? [];
      const there = await digestAt(scene.registry.host, `crane/${name}`, '1');
      // A tarball holds no manifest: what is made of it is the same each time.
      if (image === many.image) assert.equal(there, digest);
      else assert.match((await push(from, '--images', `${scene.front.host}/crane`)).stdout, /^there /);
    }
    for (const child of many.children)
      assert.equal(await digestAt(scene.registry.host, 'crane/from/many', child), child);
  });

  test('a ChartMuseum gets charts once, and one that is another there is not replaced', async (t) => {
    const museum = await startMuseum('/org/charts');
    t.after(() => museum.close());
    const demo = await demoPackage(await tempDir(t));
    const args = ['--charts', museum.url, '--insecure-registry', museum.host];
    assert.equal((await push(demo, ...args)).code, 0);
    const again = await push(demo, ...args);
    assert.deepEqual([again.code, museum.pushes], [0, 1]);
    assert.match(again.stderr, /note: 2 images left in the package: --images <registry> pushes them/);
    museum.charts.set('demo-0.1.0', Buffer.from('another'));
    const clash = await push(demo, ...args);
    assert.deepEqual([clash.code, museum.pushes], [1, 1]);
    assert.match(clash.stderr, /has another chart as demo 0\.1\.0/);
  });

  test('killed in the middle, the same command goes on and sends no part twice', async (t) => {
    const members = dockerMembers(...[1, 2, 3].map((n): [string, string] => [`cut/i${n}:1`, `cut ${n}`]));
    const files = { 'expansion.yaml': 'images: ["cut/i1:1", "cut/i2:1", "cut/i3:1"]\n', 'images.tar.gz': tgz(members) };
    const args = [
      'expansion',
      'push',
      await writeFiles(await tempDir(t), files),
      '--images',
      `${scene.front.host}/cut`,
    ];
    let parts = 0;
    // From the fifth part on nothing is answered any more.
    scene.front.meddle = (asked) => asked.method === 'PUT' && /uploads/.test(asked.url ?? '') && ++parts > 4;
    const running = startEspalier(t, args);
    // A part may be on its way still when the next one comes.
    await eventually(() => assert.deepEqual([parts > 4, blobsIn(scene.front).length], [true, 4]), {
      timeoutMs: 40_000,
    });
    running.kill();
    await running.ended;
    const sent = blobsIn(scene.front);
    scene.front.meddle = undefined;
    scene.front.requests.length = 0;
    const { code, stderr } = await espalier(args);
    assert.equal(code, 0, stderr);
    const after = blobsIn(scene.front);
    assert.equal(new Set([...sent, ...after]).size, 6);
    assert.equal(after.length, 2);
  });

  test('a registry that takes one part and not another: what can be pushed is, and the rest is named', async (t) => {
    const demo = await demoPackage(await tempDir(t));
    scene.front.meddle = (asked, answer) => {
      if (!/\/team\/db\/blobs\/uploads/.test(asked.url ?? '')) return false;
      answer.writeHead(403).end('{}');
      return true;
    };
    const done = await push(demo, '--images', `${scene.front.host}/some`);
    assert.equal(done.code, 1);
    assert.match(done.stdout, /^copied {3}docker\.io\/demo\/alpine:3\.10/);
    assert.match(done.stderr, /✗ quay\.io\/team\/db:2: .*docker login/);
  });

  test('with a fault, nothing is pushed at all', async (t) => {
    const dir = await tempDir(t);
    const [layer, config, index] = dockerMembers(['demo/a:1', 'a']) as [Member, Member, Member];
    const whole = tgz([layer, config, index]);
    const bad: [string, Uint8Array | undefined, RegExp][] = [
      ['cut', whole.subarray(0, -40), /images\.tar\.gz:1:1: can't be read/],
      ['lacks', tgz([config, index]), /lacks \S+\/layer\.tar of demo\/a:1/],
      ['other', tgz([{ ...layer, data: 'no layer' }, config, index]), /holds a damaged layer of demo\/a:1/],
      ['device', tgz([layer, config, index, { path: 'x', flag: '3' }]), /holds "x", which is a device/],
      ['outside', tgz([layer, config, index, { path: '../x', data: '' }]), /leads out of its folder/],
      ['link', tgz([{ ...layer, data: '', flag: '2', link: '/etc/passwd' }, config, index]), /lacks \S+\/layer\.tar/],
      ['absent', tgz(dockerMembers(['demo/b:1', 'b'])), /"demo\/a:1" is not in images\.tar\.gz/],
      ['none', undefined, /images\.tar\.gz is missing/],
    ];
    for (const [name, archive, fault] of bad) {
      const files = { 'expansion.yaml': "images: ['demo/a:1']\n", ...(archive && { 'images.tar.gz': archive }) };
      const done = await push(await writeFiles(join(dir, name), files), '--images', `${scene.front.host}/bad`);
      assert.equal(done.code, 1, name);
      assert.match(done.stdout, fault, name);
      assert.match(done.stderr, /nothing was pushed/);
    }
    const told = await push(join(dir, 'none'), '--images', `${scene.front.host}/bad`, '-o', 'json');
    assert.equal((JSON.parse(told.stdout) as { faults: object[] }).faults.length, 1);
    assert.deepEqual(scene.front.requests, []);
  });

  test('images that the package says are loaded elsewhere are told of, and wrong usage too', async (t) => {
    const files = { 'expansion.yaml': "images: ['demo/a:1']\nimages_loaded: true\n" };
    const loaded = await writeFiles(await tempDir(t), files);
    const done = await push(loaded, '--images', `${scene.front.host}/x`);
    assert.equal(done.code, 0);
    assert.match(done.stderr, /note: images_loaded: 1 image not in the package/);
    assert.match((await push(loaded)).stderr, /say what to push, and where to/);
    assert.match((await push(loaded, '--images', 'nowhere')).stderr, /is no registry/);
    const unclear = await push(loaded, '--charts', 'nowhere/charts');
    assert.match(unclear.stderr, /no address of a ChartMuseum: write https:.*, or oci:.* for a registry/);
    assert.equal(unclear.code, 64);
    const untagged = await push(loaded, '--package', `oci://${scene.front.host}/p`);
    assert.match(untagged.stderr, /no expansion_version; write the tag/);
    assert.equal(untagged.code, 64);
    assert.deepEqual(scene.front.requests, []);
  });
});

/** Packed as `tar -czf` does. */
async function archived(layout: string, dir: string): Promise<Buffer> {
  const { runProgram } = await import('../../src/tools/run.ts');
  const file = join(dir, 'layout.tar.gz');
  await runProgram('tar', { args: ['-czf', file, '-C', layout, '.'], timeoutMs: 30_000 });
  return await readFile(file);
}

/** Digests of the parts that were sent whole. */
function blobsIn(of: Front, below = ''): string[] {
  return writes(of).flatMap((one) => {
    if (!new RegExp(below).test(one)) return [];
    const [, digest] = /^PUT .*\/blobs\/uploads\/.*digest=([^& ]+).* 201$/.exec(one) ?? [];
    return digest === undefined ? [] : [decodeURIComponent(digest)];
  });
}
