import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { buildPackage } from '../../src/expansion/build.ts';
import { checkPackage } from '../../src/expansion/examine.ts';
import { newPackage } from '../../src/expansion/scaffold.ts';
import { chartTgz, type Member, tgz } from '../charts/support/archives.ts';
import { dockerArchive, dockerMembers, layoutMembers } from './support/image-archives.ts';

let root: string;
let count = 0;

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'espalier-test-expansion-'));
});
after(() => rm(root, { recursive: true, force: true }));

async function folderOf(files: Record<string, string | Uint8Array>): Promise<string> {
  count += 1;
  const folder = join(root, `folder-${count}`);
  for (const [path, data] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), data);
  }
  return folder;
}

async function archiveOf(data: Uint8Array): Promise<string> {
  count += 1;
  const file = join(root, `package-${count}.tgz`);
  await writeFile(file, data);
  return file;
}

async function faultsOf(path: string): Promise<string[]> {
  return (await checkPackage(path)).faults.map(({ file, line, message }) => `${file}:${line}: ${message}`);
}

function has(faults: string[], wanted: RegExp[]): void {
  for (const one of wanted)
    assert.ok(
      faults.some((fault) => one.test(fault)),
      `${one} in\n${faults.join('\n')}`,
    );
  assert.equal(faults.length, wanted.length, faults.join('\n'));
}

const docker = dockerArchive;
const oci = (name: string): Buffer => tgz(layoutMembers(name));

describe('an expansion package', () => {
  test('that is new passes, and builds to the same bytes from a copy', async () => {
    const folder = join(root, 'demo');
    await newPackage(folder, 'demo');
    const checked = await checkPackage(folder);
    assert.deepEqual(checked.faults, []);
    await cp(folder, join(root, 'copy'), { recursive: true });
    const [one, other] = [join(root, 'one.tgz'), join(root, 'other.tgz')];
    // As a run that was killed while it wrote would leave it.
    await writeFile(`${one}.part`, 'half');
    await buildPackage(folder, checked.contents, one);
    await buildPackage(join(root, 'copy'), (await checkPackage(join(root, 'copy'))).contents, other);
    assert.deepEqual(await readFile(one), await readFile(other));
    assert.deepEqual(await faultsOf(one), []);
    assert.match(gunzipSync(await readFile(one)).toString('latin1'), /[0-9a-f]{64} {2}hooks\/post-install\n/);
    const stopped = buildPackage(folder, checked.contents, join(root, 'stopped.tgz'), AbortSignal.abort());
    await assert.rejects(stopped, /abort/);
    assert.deepEqual(
      (await readdir(root)).filter((name) => /part|stopped/.test(name)),
      [],
    );
    await symlink(folder, join(root, 'current'));
    assert.deepEqual(await faultsOf(join(root, 'current')), []);
  });

  test('with images of either kind of archive passes, also without names', async () => {
    for (const archive of [docker('demo/alpine:3.10'), oci('docker.io/demo/alpine:3.10')])
      assert.deepEqual(
        await faultsOf(await folderOf({ 'expansion.yaml': 'images: [demo/alpine:3.10]\n', 'images.tar.gz': archive })),
        [],
      );
  });

  test('has all its faults told at once, each with its place', async () => {
    const faults = await faultsOf(
      await folderOf({
        'expansion.yaml': [
          'charts: [gone-0.1.0.tgz, bad-0.1.0.tgz, a/b.tgz]',
          'files: [../etc/passwd, one, one]',
          'hooks: [pre-install, post-install, post-install.tmpl]',
          'images: [demo/alpine:3.10]',
          'nonsense: 1',
          'images_loaded: yes please',
        ].join('\n'),
        'charts/bad-0.1.0.tgz': 'no chart',
        'files/one': '1',
        'hooks/pre-install': new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0]),
        'hooks/post-install': 'echo\n',
        'hooks/post-install.tmpl': '#!/bin/sh\n',
        'images.tar.gz': docker('demo/other:1'),
        'provider/extra': '',
      }),
    );
    has(faults, [
      /^expansion\.yaml:1: charts: "gone-0\.1\.0\.tgz" is missing: put it/,
      /^charts\/bad-0\.1\.0\.tgz:1: does not load as a chart/,
      /^expansion\.yaml:1: charts: "a\/b\.tgz" has a \/ in its name/,
      /^expansion\.yaml:2: files: "\.\.\/etc\/passwd" leads out/,
      /^expansion\.yaml:2: files lists "one" twice/,
      /^hooks\/pre-install:1: is binary/,
      /^expansion\.yaml:3: hooks: "post-install" is there twice, as it is and as post-install\.tmpl: remove one/,
      /^hooks\/post-install:1: does not begin with what runs it/,
      /^expansion\.yaml:4: images: "demo\/alpine:3\.10" is not in images\.tar\.gz/,
      /^images\.tar\.gz:1: holds "docker\.io\/demo\/other:1", which is not listed/,
      /^expansion\.yaml:5: nonsense is no field/,
      /^expansion\.yaml:6: images_loaded is neither/,
      /^provider\/extra:1: is not listed/,
    ]);
  });

  test('that escapes, holds links and devices, or a file twice, has each of them told', async () => {
    const members: Member[] = [
      { path: 'expansion.yaml', data: 'charts: [demo-0.1.0.tgz]\n' },
      { path: '../outside', data: 'x' },
      { path: 'files/link', flag: '2', link: '/etc/passwd' },
      { path: 'files/hard', flag: '1', link: 'expansion.yaml' },
      { path: 'files/disk', flag: '4' },
      { path: 'charts/demo-0.1.0.tgz', data: chartTgz('demo', '0.1.0') },
      { path: 'charts/demo-0.1.0.tgz', data: chartTgz('demo', '0.1.0') },
    ];
    has(await faultsOf(await archiveOf(tgz(members))), [
      /^\.\.\/outside:1: the path leads out/,
      /^files\/link:1: is a symbolic link/,
      /^files\/hard:1: is a hard link/,
      /^files\/disk:1: is a device/,
      /^charts\/demo-0\.1\.0\.tgz:1: is in the package twice/,
    ]);
    const inFile = tgz(['expansion.yaml', 'files/a', 'files/a/b'].map((path) => ({ path, data: 'files: [a, a/b]' })));
    has(await faultsOf(await archiveOf(inFile)), [/^files\/a\/b:1: is in files\/a, which is a file: remove one/]);
    const folder = await folderOf({ 'expansion.yaml': '{}' });
    await symlink('/etc/passwd', join(folder, 'files'));
    has(await faultsOf(folder), [/^files:1: is a symbolic link/]);
  });

  test('whose image archive lacks a part, or holds links that lead nowhere, has that told', async () => {
    const faultsWith = async (members: Member[], image = 'demo/a:1'): Promise<string[]> =>
      await faultsOf(await folderOf({ 'expansion.yaml': `images: ['${image}']\n`, 'images.tar.gz': tgz(members) }));
    const [layer, config, index] = dockerMembers(['demo/a:1', 'a']) as [Member, Member, Member];
    has(await faultsWith([config, index]), [/^images\.tar\.gz:1: lacks \S+\/layer\.tar of demo\/a:1; save it again/]);
    has(await faultsWith([layer, index]), [/lacks \S+\.json of demo\/a:1/]);
    has(await faultsWith([layer, { ...config, data: '{}' }, index]), [/\.json, which is no config of an image/]);
    has(await faultsWith([{ ...layer, flag: '2', data: '', link: '../../etc/passwd' }, config, index]), [/lacks \S+/]);
    has(await faultsWith([layer, config, index, index]), [/holds manifest\.json twice/]);
    has(await faultsWith([layer, config, index, { path: 'disk', flag: '4' }]), [/holds "disk", which is a device/]);
    const layout = layoutMembers('demo/a:1');
    for (const [at, wanted] of [/lacks blobs/, /lacks blobs/, /lacks blobs/].entries())
      has(await faultsWith(layout.toSpliced(at + 1, 1)), [wanted]);
    const extra = layoutMembers('demo/b:1');
    const unnamed = (named: Member[]): Member[] => {
      const at = named.findIndex(({ path }) => path === 'index.json');
      const { manifests } = JSON.parse(String(named[at]?.data)) as { manifests: object[] };
      const [other] = (JSON.parse(String(extra.at(-1)?.data)) as { manifests: object[] }).manifests;
      const data = JSON.stringify({ manifests: [...manifests, { ...other, annotations: {} }] });
      return [...extra.slice(0, -1), ...named.with(at, { path: 'index.json', data })];
    };
    has(await faultsWith(unnamed(layout)), [/holds sha256:[0-9a-f]{64} without a name and tag; save it again/]);
    const loop = { path: 'x/layer.tar', flag: '2', link: '../x/layer.tar' };
    const item = [{ Config: config.path, RepoTags: ['demo/a:1'], Layers: [loop.path] }];
    has(await faultsWith([loop, config, { path: 'manifest.json', data: JSON.stringify(item) }]), [
      /lacks x\/layer\.tar/,
    ]);
  });

  test('may hold an archive in which docker saved a shared layer as a link', async () => {
    const files = {
      'expansion.yaml': "images: ['demo/a:1', 'demo/b:1']\n",
      'images.tar.gz': tgz(dockerMembers(['demo/a:1', 'same'], ['demo/b:1', 'same'])),
    };
    assert.deepEqual(await faultsOf(await folderOf(files)), []);
  });

  test('that is cut off anywhere is a fault and never a crash', async () => {
    const whole = tgz([
      { path: 'expansion.yaml', data: 'images: [demo/alpine:3.10]\n' },
      { path: 'images.tar.gz', data: docker('demo/alpine:3.10') },
    ]);
    for (let length = 0; length < whole.length; length += 7)
      assert.notDeepEqual(await faultsOf(await archiveOf(whole.subarray(0, length))), [], `${length} bytes`);
    const images = docker('demo/alpine:3.10').subarray(0, -20);
    const files = { 'expansion.yaml': 'images: [demo/alpine:3.10]\n', 'images.tar.gz': images };
    has(await faultsOf(await folderOf(files)), [/^images\.tar\.gz:1: can't be read/]);
  });

  test('whose content is not what was built is told by its checksums', async () => {
    const sums = `${'0'.repeat(64)}  expansion.yaml\n`;
    has(await faultsOf(await folderOf({ 'expansion.yaml': '{}', SHA256SUMS: sums })), [
      /^SHA256SUMS:1: expansion\.yaml is not what was built: .* delete SHA256SUMS and build it again$/,
    ]);
  });

  test('with an expansion.yaml that is broken has that told, and not that all the rest is unlisted', async () => {
    const latin = Buffer.from('charts: []\n# é', 'latin1');
    for (const text of ['a: [', '- a', '', 'charts: 1', 'expansion_name: [x]', 'values: 3', 'charts: [1]', latin])
      assert.equal((await faultsOf(await folderOf({ 'expansion.yaml': text }))).length, 1, String(text));
    for (const [text, wanted] of [
      ['a: [', /^expansion\.yaml:1: this is not valid YAML/],
      ['- a', /^expansion\.yaml:1: is no mapping/],
      [latin, /^expansion\.yaml:2: is not UTF-8: save it in that encoding$/],
    ] as const)
      has(await faultsOf(await folderOf({ 'expansion.yaml': text, 'hooks/post-install': '#!/bin/sh\n' })), [wanted]);
    const packed = { path: 'demo/expansion.yaml', data: '{}' };
    has(await faultsOf(await archiveOf(tgz([packed]))), [/^expansion\.yaml:1: .*here is demo\/expansion\.yaml; pack/]);
  });

  test('with more wrong than anybody reads is told a thousand of it, and soon', async () => {
    for (const text of [
      `files: [${'1,'.repeat(130_000)}]`,
      Array.from({ length: 5000 }, (_, at) => `f${at}: 1`).join('\n'),
    ]) {
      const faults = await faultsOf(await folderOf({ 'expansion.yaml': text }));
      assert.equal(faults.length, 1001);
      assert.match(faults.at(-1) ?? '', /there is more than these 1000 faults: correct them, and check again$/);
    }
  });
});
