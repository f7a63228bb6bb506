import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { messageOf } from '../../src/api/errors.ts';
import { findGo } from '../../src/tools/golang.ts';
import { obtain } from '../../src/tools/obtain.ts';
import type { Progress } from '../../src/tools/progress.ts';
import { versionOf } from '../../src/tools/version.ts';
import { isAlive } from './support/alive.ts';
import { child } from './support/child.ts';
import { emptySurroundings, helloTool, namesIn, script, temporaryFolder, watchedGo } from './support/hello.ts';
import { until } from './support/until.ts';

const silent = () => {};

test('two processes and two callers that ask at once build once, and get the same program', async (t) => {
  const go = await watchedGo(t);
  const surroundings = await emptySurroundings(t, go.folder);
  const asker = child(t, 'asker.ts', JSON.stringify(surroundings));
  const steps: Progress[] = [];
  const ask = () => obtain([helloTool()], { surroundings, progress: (step) => steps.push(step) });
  const [one, two, other] = await Promise.all([ask(), ask(), asker.ended]);
  const path = one.get('hello') ?? '';
  assert.deepEqual([two.get('hello'), other.trim()], [path, path]);
  assert.equal(execFileSync(path).toString(), 'hello v1.2.3\n');
  assert.equal(await go.builds(), 1);
  assert.ok(
    steps.some(
      ({ step, detail }) => step === 'waiting' && /for process \d+, which gets hello 1\.2\.3/.test(detail ?? ''),
    ),
  );
  assert.deepEqual([await namesIn(surroundings.cache.staging), await namesIn(surroundings.cache.locks)], [[], []]);
});

test('a builder killed with SIGKILL takes its compilers along, and the next one builds at once', async (t) => {
  const go = await watchedGo(t);
  const surroundings = await emptySurroundings(t, go.folder);
  await go.hold();
  const asker = child(t, 'asker.ts', JSON.stringify(surroundings));
  await until('it builds', async () => (await go.pids()).length === 2);
  const compilers = await go.pids();
  asker.process.kill('SIGKILL');
  await asker.ended;
  assert.equal((await namesIn(surroundings.cache.staging)).length, 1);
  await until('its compilers are gone', () => !compilers.some(isAlive));
  await go.release();
  const started = Date.now();
  const paths = await obtain([helloTool()], { surroundings, progress: silent });
  assert.ok(Date.now() - started < 50_000);
  assert.equal(execFileSync(paths.get('hello') ?? '').toString(), 'hello v1.2.3\n');
  assert.deepEqual([await namesIn(surroundings.cache.staging), await namesIn(surroundings.cache.locks)], [[], []]);
});

test('an abort ends the compilers, leaves nothing half-done, and can be tried again', async (t) => {
  const go = await watchedGo(t);
  const surroundings = await emptySurroundings(t, go.folder);
  await go.hold();
  const controller = new AbortController();
  const asked = obtain([helloTool()], { surroundings, progress: silent, signal: controller.signal });
  await Promise.race([asked, until('it builds', async () => (await go.pids()).length === 2)]);
  controller.abort();
  await assert.rejects(asked, { code: 'Aborted' });
  assert.ok(!(await go.pids()).some(isAlive));
  assert.deepEqual([await namesIn(surroundings.cache.staging), await namesIn(surroundings.cache.bin)], [[], []]);
  await go.release();
  await obtain([helloTool()], { surroundings, progress: silent });
});

test('the same sources are linked as another version where the recipe allows it, and only there', async (t) => {
  const surroundings = await emptySurroundings(t, (await watchedGo(t)).folder);
  const tool = helloTool();
  const relinkable = { ...tool, recipe: { ...tool.recipe, relinkable: true } };
  const path = (await obtain([relinkable], { surroundings, progress: silent, version: '1.1.0' })).get('hello') ?? '';
  assert.equal(execFileSync(path).toString(), 'hello v1.1.0\n');
  const asked = obtain([tool], { surroundings, progress: silent, version: '1.0.0' });
  await assert.rejects(asked, { code: 'ToolMissing', message: /only version 1\.2\.3 can be built/ });
});

test('an installed program that lost its end is built again', async (t) => {
  const go = await watchedGo(t);
  const surroundings = await emptySurroundings(t, go.folder);
  const path = (await obtain([helloTool()], { surroundings, progress: silent })).get('hello') ?? '';
  await writeFile(path, '');
  // a fresh PATH, so that the answer is not the one that this process remembers
  const again = { ...surroundings, env: { ...surroundings.env, PATH: '/nowhere' } };
  assert.equal((await obtain([helloTool()], { surroundings: again, progress: silent })).get('hello'), path);
  assert.equal(execFileSync(path).toString(), 'hello v1.2.3\n');
  await rm(path);
});

test('a build that fails tells what Go said, and that it may be tried again', async (t) => {
  const surroundings = await emptySurroundings(t, (await watchedGo(t)).folder);
  const tool = helloTool();
  const broken = { ...tool, recipe: { ...tool.recipe, package: 'espalier.test/hello/none' } };
  await assert.rejects(obtain([broken], { surroundings, progress: silent }), {
    code: 'ToolBuildFailed',
    retry: true,
    message: /go list for hello 1\.2\.3 ended with code 1:\n.*espalier\.test\/hello\/none/s,
  });
});

test('a program on the PATH is used when its version fits, without getting anything', async (t) => {
  const surroundings = await emptySurroundings(t, '/nowhere');
  const folder = await temporaryFolder(t);
  const path = await script(folder, 'hello', 'echo hello v1.2.3');
  const env = { ...surroundings.env, PATH: `relative:${folder}` };
  assert.equal((await obtain([helloTool()], { surroundings: { ...surroundings, env } })).get('hello'), path);
  assert.deepEqual(await namesIn(surroundings.cache.bin), []);
});

test('a program on the PATH with another version is never used', async (t) => {
  const go = await watchedGo(t);
  const surroundings = await emptySurroundings(t, go.folder);
  const folder = await temporaryFolder(t);
  const wrong = await script(folder, 'hello', 'echo hello v1.2.30');
  const env = { ...surroundings.env, PATH: folder };
  const path = (await obtain([helloTool()], { surroundings: { ...surroundings, env }, progress: silent })).get('hello');
  assert.notEqual(path, wrong);
  assert.equal(execFileSync(path ?? '').toString(), 'hello v1.2.3\n');
});

test('a program that hangs when asked for its version is given up on', async (t) => {
  const path = await script(await temporaryFolder(t), 'hello', 'sleep 300');
  assert.equal(await versionOf(path, helloTool().ask, undefined, 200), undefined);
});

test('a program that a variable names is used as it is, and a wrong path is said so', async (t) => {
  const surroundings = await emptySurroundings(t, '/nowhere');
  const path = await script(await temporaryFolder(t), 'mine', 'echo hello v9');
  const named = (value: string) => ({ ...surroundings, env: { ...surroundings.env, ESPALIER_TOOL_HELLO: value } });
  assert.equal((await obtain([helloTool()], { surroundings: named(path) })).get('hello'), path);
  const asked = obtain([helloTool()], { surroundings: named('/no/such') });
  await assert.rejects(asked, { code: 'ToolMissing', message: /ESPALIER_TOOL_HELLO is \/no\/such/ });
});

test('with no way at all, the message tells what was tried and what helps', async (t) => {
  const surroundings = await emptySurroundings(t, '/nowhere');
  const folder = await temporaryFolder(t);
  const wrong = await script(folder, 'hello', 'echo hello v1.2.30');
  const proof = { kind: 'pinned', sha256: '0'.repeat(64) } as const;
  const tool = helloTool({ url: 'https://publisher.test/hello', proof });
  const env = { ...surroundings.env, PATH: folder };
  const rewriteUrl = () => new URL('http://127.0.0.1:1/hello');
  const message = await obtain([tool], { surroundings: { ...surroundings, env, rewriteUrl }, progress: silent }).then(
    () => '',
    messageOf,
  );
  assert.equal(
    message,
    `hello 1.2.3 is missing, and there is no way to get it:
  - on the PATH: ${wrong} is 1.2.30, which is not 1.2.3
  - download: connect ECONNREFUSED 127.0.0.1:1
  - build: Go 1.21 or newer is needed, and none is installed
Any one of these helps:
  - install hello 1.2.3 on the PATH, or name it: ESPALIER_TOOL_HELLO=/path/to/hello
  - allow https to publisher.test, or set HTTPS_PROXY
  - install Go 1.21 or newer (https://go.dev/dl), with access to a Go module proxy (GOPROXY)`,
  );
});

test('of a Go that is too old the message tells where it is; one that can fetch a newer one is told to', async (t) => {
  const surroundings = await emptySurroundings(t, await temporaryFolder(t));
  const [folder = ''] = surroundings.goFolders;
  const { recipe } = helloTool();
  const path = await script(folder, 'go', 'echo go version go1.19.8 linux/amd64');
  const old = await findGo(recipe, surroundings);
  assert.deepEqual(old, { ok: false, why: `Go 1.21 or newer is needed, and ${path} is 1.19.8` });
  const newer = { ...surroundings, modules: await temporaryFolder(t) };
  await script(join(newer.modules, 'hello'), 'go.mod', '');
  await writeFile(join(newer.modules, 'hello', 'go.mod'), 'module m\n\ngo 1.99.3\n');
  await script(folder, 'go', 'echo go version go1.24.1 linux/amd64');
  assert.deepEqual(await findGo(recipe, newer), { ok: true, path, toolchain: 'go1.99.3' });
});
