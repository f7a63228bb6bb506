import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { messageOf } from '../../src/api/errors.ts';
import { obtain } from '../../src/tools/obtain.ts';
import type { Progress } from '../../src/tools/progress.ts';
import { forgetUnreachable } from '../../src/tools/reach.ts';
import type { Proof } from '../../src/tools/releases.ts';
import { emptySurroundings, helloTool, namesIn, script, temporaryFolder, watchedGo } from './support/hello.ts';
import { type Publisher, publisher, rudeServer, sha256 } from './support/publisher.ts';

const PROGRAM = '#!/bin/sh\necho hello v1.2.3\n';
const AT = 'https://publisher.test';
const BESIDE: Proof = { kind: 'list', url: `${AT}/hello.sha256` };
const silent = () => {};

/** A machine without Go that can reach a publisher. */
async function machine(t: TestContext, server: Pick<Publisher, 'rewriteUrl'>) {
  const surroundings = await emptySurroundings(t, '/nowhere');
  return { ...surroundings, rewriteUrl: server.rewriteUrl };
}

test('a program with the sum that its publisher tells is installed, and not fetched again', async (t) => {
  const server = await publisher(t);
  server.files.set('/hello', PROGRAM).set('/hello.sha256', `${sha256(PROGRAM)}  hello\n`);
  const surroundings = await machine(t, server);
  const tool = helloTool({ url: `${AT}/hello`, proof: BESIDE });
  const path = (await obtain([tool], { surroundings, progress: silent })).get('hello') ?? '';
  assert.equal(execFileSync(path).toString(), 'hello v1.2.3\n');
  assert.equal((await obtain([tool], { surroundings, progress: silent })).get('hello'), path);
  assert.deepEqual(server.asked, ['/hello.sha256', '/hello']);
});

test('a program with another sum is refused, never run, and nothing of it is kept', async (t) => {
  const folder = await temporaryFolder(t);
  const forged = `#!/bin/sh\ntouch ${folder}/ran\necho hello v1.2.3\n`;
  const proofs: Proof[] = [BESIDE, { kind: 'pinned', sha256: sha256(PROGRAM) }];
  for (const proof of proofs) {
    const server = await publisher(t);
    server.files.set('/hello', forged).set('/hello.sha256', `${sha256(PROGRAM)}  hello\n`);
    const surroundings = await machine(t, server);
    const asked = obtain([helloTool({ url: `${AT}/hello`, proof })], { surroundings, progress: silent });
    await assert.rejects(asked, {
      code: 'ToolChecksumMismatch',
      message: new RegExp(`publisher says ${sha256(PROGRAM)}: refused`),
    });
    assert.deepEqual([await namesIn(folder), await namesIn(surroundings.cache.bin)], [[], []]);
    assert.deepEqual(await namesIn(surroundings.cache.staging), []);
  }
});

test('where Go is at hand, a refused download is warned about and the program is built', async (t) => {
  const server = await publisher(t);
  server.files.set('/hello', 'forged').set('/hello.sha256', `${sha256(PROGRAM)}  hello\n`);
  const go = await watchedGo(t);
  const surroundings = { ...(await machine(t, server)), goFolders: [go.folder] };
  const seen: Progress[] = [];
  const progress = (step: Progress) => seen.push(step);
  const paths = await obtain([helloTool({ url: `${AT}/hello`, proof: BESIDE })], { surroundings, progress });
  assert.equal(execFileSync(paths.get('hello') ?? '').toString(), 'hello v1.2.3\n');
  assert.match(seen.find(({ step }) => step === 'warning')?.detail ?? '', /refused/);
});

test('without a checksum nothing is even fetched', async (t) => {
  const server = await publisher(t);
  server.files.set('/hello', PROGRAM).set('/hello.sha256', `${sha256(PROGRAM)}  another\n`);
  const surroundings = await machine(t, server);
  const asked = obtain([helloTool({ url: `${AT}/hello`, proof: BESIDE })], { surroundings, progress: silent });
  await assert.rejects(asked, { code: 'ToolMissing', message: /hello\.sha256 holds no checksum of hello/ });
  assert.deepEqual(server.asked, ['/hello.sha256']);
});

test('of an archive the one program is taken, proven by the sum of the archive or the digest of the release', async (t) => {
  const folder = await temporaryFolder(t);
  await script(join(folder, 'linux'), 'hello', 'echo hello v1.2.3');
  execFileSync('tar', ['-czf', 'a.tar.gz', './linux'], { cwd: folder });
  const archive = await readFile(join(folder, 'a.tar.gz'));
  const release = { assets: [{ name: 'a.tar.gz', digest: `sha256:${sha256(archive)}` }] };
  const server = await publisher(t);
  server.files.set('/a.tar.gz', archive).set('/release', JSON.stringify(release));
  const surroundings = await machine(t, server);
  const proof: Proof = { kind: 'github', url: `${AT}/release` };
  const tool = helloTool({ url: `${AT}/a.tar.gz`, proof, member: 'linux/hello' });
  const path = (await obtain([tool], { surroundings, progress: silent })).get('hello') ?? '';
  assert.deepEqual((await namesIn(dirname(path))).sort(), ['hello', 'installed.json']);
});

test('a link in an archive under the name of the program is not followed', async (t) => {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'linux'));
  await symlink('/bin/sh', join(folder, 'linux/hello'));
  execFileSync('tar', ['-czf', 'a.tar.gz', 'linux'], { cwd: folder });
  const archive = await readFile(join(folder, 'a.tar.gz'));
  const server = await publisher(t);
  server.files.set('/a.tar.gz', archive);
  const proof: Proof = { kind: 'pinned', sha256: sha256(archive) };
  const tool = helloTool({ url: `${AT}/a.tar.gz`, proof, member: 'linux/hello' });
  const asked = obtain([tool], { surroundings: await machine(t, server), progress: silent });
  await assert.rejects(asked, { code: 'ToolMissing', message: /holds no file linux\/hello/ });
});

test('a proven program that tells another version here is not installed', async (t) => {
  const server = await publisher(t);
  const other = PROGRAM.replace('1.2.3', '1.2.4');
  server.files.set('/hello', other);
  const proof: Proof = { kind: 'pinned', sha256: sha256(other) };
  const surroundings = await machine(t, server);
  const asked = obtain([helloTool({ url: `${AT}/hello`, proof })], { surroundings, progress: silent });
  await assert.rejects(asked, { message: /tells version 1\.2\.4 here/ });
  assert.deepEqual(await namesIn(surroundings.cache.bin), []);
});

test('a publisher that can not be reached is asked once for many programs, also by the next process', async (t) => {
  const server = await rudeServer(t, 'hangs up');
  const surroundings = await machine(t, server);
  const tools = ['a', 'b', 'c'].map((name) => {
    const tool = helloTool({ url: `${AT}/${name}`, proof: { kind: 'pinned', sha256: '0'.repeat(64) } }, name);
    return { ...tool, recipe: { ...tool.recipe, module: `${tool.recipe.module}-${name}` } };
  });
  const message = await obtain(tools, { surroundings, progress: silent }).then(() => '', messageOf);
  assert.equal(message.match(/is missing, and there is no way to get it/g)?.length, 3);
  assert.equal(message.match(/could not be reached a few minutes ago/g)?.length, 2);
  assert.equal(server.connections(), 1);
  assert.match(await readFile(join(surroundings.cache.root, 'unreachable.json'), 'utf8'), /127\.0\.0\.1/);
  await forgetUnreachable(surroundings.cache);
  await obtain(tools.slice(0, 1), { surroundings, progress: silent }).catch(() => {});
  assert.equal(server.connections(), 2);
});
