import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { blocksOf } from '../declare/documentation.ts';
import { tempDir } from '../support/tempdir.ts';
import { espalier } from './support/espalier.ts';

const page = readFileSync(new URL('../../docs/expansion-merge.md', import.meta.url), 'utf8');
const blocks = blocksOf(page);
const shown = (mark: string) => blocks.find((block) => block.mark === mark)?.text ?? '';

/** The package, the file and the data folder of docs/expansion-merge.md. */
async function scene(t: TestContext) {
  const folder = await tempDir(t);
  const put = async (path: string, content: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  };
  await put('demo/expansion.yaml', blocks.find(({ file }) => file === 'expansion.yaml')?.text ?? '');
  await put('demo/files/etc/modules-load.d/demo.conf', '\u001b[2Jdemo\n');
  await put('demo/hooks/pre-install.tmpl', shown('template'));
  await put('demo/provider/baremetal/conf/docker/daemon.json', '{"debug": true}\n');
  await put('data/provider/baremetal/conf/docker/daemon.json', '{}\n');
  await put('tke.json', shown('before'));
  const into = join(folder, 'tke.json');
  const data = join(folder, 'data');
  const merge = (...args: string[]) => espalier(['expansion', 'merge', ...args, '--into', into, '--data-dir', data]);
  return { folder, into, data, merge, put, read: (path: string) => readFile(join(folder, path), 'utf8') };
}

describe('docs/expansion-merge.md', () => {
  test('a merge prints the difference; with --write it makes what the page shows, and a second one changes nothing', async (t) => {
    const { folder, data, merge, put, read } = await scene(t);
    const dry = await merge(join(folder, 'demo'));
    assert.equal(dry.code, 0, dry.stderr);
    assert.match(dry.stdout, /^\+ {2}"config": \{"skipSteps": \["Load images", "Push images"\]/m);
    assert.match(dry.stdout, /^\+\\u001b\[2Jdemo$/m);
    assert.match(dry.stdout, /^-\{\}\n\+\{"debug": true\}$/m);
    assert.match(dry.stderr, /nothing is written yet: add --write/);
    assert.equal(await read('tke.json'), shown('before'));
    assert.deepEqual(await readdir(data), ['provider']);

    // As a run that was killed while it wrote would leave it.
    await put('.tke.json.espalier-new', '{"config": {"skip');
    const written = await merge(join(folder, 'demo'), '--write');
    assert.equal(written.code, 0, written.stderr);
    assert.deepEqual((await readdir(folder)).toSorted(), ['data', 'demo', 'tke.json']);
    assert.equal((await read('tke.json')).replaceAll(data, '/opt/data'), shown('after'));
    assert.equal(await read('data/hooks/pre-install'), shown('rendered'));
    assert.notEqual((await stat(join(data, 'hooks/pre-install'))).mode & 0o100, 0);
    assert.equal(await read('data/files/etc/modules-load.d/demo.conf'), '\u001b[2Jdemo\n');
    assert.equal(await read('data/backup/demo-v1.0/provider/baremetal/conf/docker/daemon.json'), '{}\n');

    await promisify(execFile)('tar', ['-czf', 'demo.tgz', '-C', 'demo', '.'], { cwd: folder });
    const again = await merge(join(folder, 'demo.tgz'), '--write');
    assert.deepEqual([again.code, again.stdout, again.stderr], [0, '', 'nothing changes: all of it is there\n']);

    const into = await read('tke.json');
    await put('demo/expansion.yaml', (await read('demo/expansion.yaml')).replace('v1.0', 'v1.1'));
    assert.equal((await merge(join(folder, 'demo'), '--write')).code, 0);
    await put('other/expansion.yaml', 'expansion_name: other\ninstaller_skip_steps: [Other]\n');
    const second = await merge(join(folder, 'other'), '--write');
    assert.match(
      second.stderr,
      /expansion demo v1\.1 is merged into .*a platform takes one at a time: expansion other is refused/,
    );
    assert.deepEqual([second.code, await read('tke.json')], [2, into]);
  });

  test('without a package, with a broken file or a package with faults, nothing is written', async (t) => {
    const { folder, into, data, merge, put, read } = await scene(t);
    assert.equal((await merge('--write')).code, 0);
    await put('tke.json', '{"config": {"skipSteps": 1},\n "cluster": []}');
    const wrong = await merge(join(folder, 'demo'), '--write');
    assert.equal(wrong.code, 64);
    assert.ok(wrong.stderr.includes(`${into}:1:26: config.skipSteps is a number; it has to be an array`));
    assert.ok(wrong.stderr.includes(`${into}:2:13: cluster is an array; it has to be an object`));
    await put('tke.json', shown('before'));
    const elsewhere = (...args: string[]) => espalier(['expansion', 'merge', join(folder, 'demo'), '--write', ...args]);
    assert.match((await elsewhere('--into', folder)).stderr, /there is no such file; name the installer's tke\.json/);
    const noFolder = await elsewhere('--into', into, '--data-dir', into);
    assert.match(noFolder.stderr, /a folder on its way is a file: move it away, or name another --data-dir/);
    await put('demo/hooks/pre-install.tmpl', '#!/bin/sh\necho {{ .mirrror }}\n');
    assert.match(
      (await merge(join(folder, 'demo'), '--write')).stderr,
      /hooks\/pre-install\.tmpl asks for a value that is not there/,
    );
    await put('demo/SHA256SUMS', `${'0'.repeat(64)}  files/etc/modules-load.d/demo.conf\n`);
    await put(
      'demo/expansion.yaml',
      'files: [etc/modules-load.d/demo.conf]\nhooks: [post-install, pre-install, ../x]\n',
    );
    await put('demo/hooks/pre-install', '\0');
    await put('demo/hooks/\u001b[2J', '');
    const refused = await merge(join(folder, 'demo'), '--write');
    assert.deepEqual([refused.code, refused.stderr], [1, 'nothing was written\n']);
    for (const fault of [
      /demo\/expansion\.yaml:2:9: hooks: "post-install" is missing/,
      /demo\/expansion\.yaml:2:36: hooks: "\.\.\/x" leads out of its folder/,
      /demo\/hooks\/pre-install:1:1: is binary/,
      /demo\/hooks\/\\u001b\[2J:1:1: the path holds backslashes or control characters/,
      /demo\/SHA256SUMS:1:1: files\/etc\/modules-load\.d\/demo\.conf is not what was built/,
    ])
      assert.match(refused.stdout, fault);
    await promisify(execFile)('ln', ['-s', '/etc/passwd', 'demo/files/link'], { cwd: folder });
    await promisify(execFile)('tar', ['-czf', 'demo.tgz', '-C', 'demo', '.'], { cwd: folder });
    assert.match((await merge(join(folder, 'demo.tgz'), '--write')).stdout, /^files\/link:1:1: is a symbolic link/m);
    assert.deepEqual([await read('tke.json'), await readdir(data)], [shown('before'), ['provider']]);
  });
});
