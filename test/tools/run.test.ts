import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { EspalierError } from '../../src/api/errors.ts';
import { runProgram } from '../../src/tools/run.ts';
import { isAlive } from './support/alive.ts';
import { until } from './support/until.ts';

const SH = '/bin/sh';
/** A program whose child ignores SIGTERM, and whose grandchild sleeps on. Prints the pids of both. */
const STUBBORN_FAMILY = `
trap "" TERM
sh -c 'trap "" TERM; sleep 300 & echo $! >&2; echo $$ >&2; wait; sleep 300' &
wait; sleep 300`;
const DEADLINE_MS = 300;
const GRACE_MS = 200;

/** Runs a script whose time stands still, until it is let pass: not before the script has said so many lines. */
function untilDeadline(t: TestContext, script: string, lineCount: number) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const lines: string[] = [];
  const said = Promise.withResolvers<void>();
  const ended = runProgram(SH, {
    args: ['-c', script],
    timeoutMs: DEADLINE_MS,
    graceMs: GRACE_MS,
    onStderrLine: (line) => lines.push(line) === lineCount && said.resolve(),
  });
  const pass = async (ms: number): Promise<void> => {
    await said.promise;
    t.mock.timers.tick(ms);
  };
  return { lines, pass, ended };
}

test('a program that ends with a code other than 0 is an answer', async () => {
  const result = await runProgram(SH, { args: ['-c', 'echo out; echo err >&2; exit 3'], timeoutMs: 30_000 });
  assert.deepEqual({ ...result, ms: 0 }, { code: 3, signal: null, stdout: 'out\n', stderr: 'err\n', ms: 0 });
});

test('a program ended by a signal tells which', async () => {
  const result = await runProgram(SH, { args: ['-c', 'kill -9 $$'], timeoutMs: 30_000 });
  assert.deepEqual([result.code, result.signal], [137, 'SIGKILL']);
});

test('arguments reach the program as they are: there is no shell', async () => {
  const args = ['%s|', '$HOME', '`id`', '; exit 1', 'a b', '*', '', 'a\nb', "it's", '-n'];
  const { stdout } = await runProgram('/usr/bin/printf', { args, timeoutMs: 30_000 });
  assert.equal(stdout, "$HOME|`id`|; exit 1|a b|*||a\nb|it's|-n|");
});

test('a program gets PATH, HOME and what it is given, nothing else', async (t) => {
  t.after(() => delete process.env.ESPALIER_TEST_LEAK);
  process.env.ESPALIER_TEST_LEAK = 'leaked';
  const { stdout } = await runProgram('/usr/bin/env', { args: [], env: { GIVEN: '1', HOME: '/h' }, timeoutMs: 30_000 });
  assert.deepEqual(stdout.trim().split('\n').sort(), ['GIVEN=1', 'HOME=/h', `PATH=${process.env.PATH}`]);
});

test('input is read by the program, and one that reads none of it does no harm', async () => {
  const input = 'x'.repeat(1_000_000);
  const { stdout } = await runProgram('/bin/cat', { args: [], input, timeoutMs: 30_000 });
  assert.equal(stdout.length, input.length);
  assert.equal((await runProgram('/bin/true', { args: [], input, timeoutMs: 30_000 })).code, 0);
});

test('a program that can not be started says so', async () => {
  const run = runProgram('/no/such/program', { args: [], timeoutMs: 30_000 });
  await assert.rejects(run, { code: 'ProgramFailed', message: /\/no\/such\/program can't be started/ });
});

test('a folder that does not exist is said so, and a program without a path is found on the PATH', async () => {
  const run = runProgram('true', { args: [], cwd: '/no/such/folder', timeoutMs: 30_000 });
  await assert.rejects(run, { code: 'ProgramFailed' });
  assert.equal((await runProgram('true', { args: [], timeoutMs: 30_000 })).code, 0);
});

test('at its deadline a whole family is killed, children that ignore SIGTERM too', async (t) => {
  const { lines, pass, ended } = untilDeadline(t, STUBBORN_FAMILY, 2);
  await pass(DEADLINE_MS);
  await pass(GRACE_MS);
  await assert.rejects(ended, { code: 'ProgramTimedOut', message: 'sh did not end within 0.3 s and was stopped' });
  t.mock.timers.reset();
  for (const pid of lines.slice(0, 2)) await until(`${pid} is gone`, () => !isAlive(Number(pid)));
});

test('a program that ends at SIGTERM is not killed', async (t) => {
  const text = 'trap "echo cleaned up >&2; exit 0" TERM; echo ready >&2; while :; do sleep 0.05; done';
  const { lines, pass, ended } = untilDeadline(t, text, 1);
  await pass(DEADLINE_MS);
  await assert.rejects(ended, { code: 'ProgramTimedOut' });
  assert.equal(lines.at(-1), 'cleaned up');
});

test('at the deadline children are asked to end too, and have the grace to clean up', async (t) => {
  const child = `sh -c 'trap "echo child cleaned up >&2; exit" TERM; echo ready >&2; while :; do sleep 0.05; done' &`;
  const { lines, pass, ended } = untilDeadline(t, `trap : TERM; ${child} wait; wait`, 1);
  await pass(DEADLINE_MS);
  await assert.rejects(ended, { code: 'ProgramTimedOut' });
  assert.ok(lines.includes('child cleaned up'));
});

test('an abort kills the whole family, and a signal aborted before starts nothing', async () => {
  const controller = new AbortController();
  const pids: number[] = [];
  const run = runProgram(SH, {
    args: ['-c', STUBBORN_FAMILY],
    timeoutMs: 60_000,
    graceMs: 100,
    signal: controller.signal,
    onStderrLine: (line) => pids.push(Number(line)) === 2 && controller.abort(),
  });
  await assert.rejects(run, { code: 'Aborted' });
  for (const pid of pids) await until(`${pid} is gone`, () => !isAlive(pid));
  await assert.rejects(runProgram('/no/such', { args: [], timeoutMs: 1, signal: controller.signal }), {
    code: 'Aborted',
  });
});

test('what a program leaves in the background ends with it, and does not keep its caller waiting', async () => {
  const result = await runProgram(SH, { args: ['-c', 'sleep 300 & echo $!'], timeoutMs: 60_000 });
  assert.ok(result.ms < 30_000);
  await until('the sleeper is gone', () => !isAlive(Number(result.stdout)));
});

test('a descendant that left the group and holds the pipes does not keep the caller waiting', async (t) => {
  const spawnAway = 'const c = require("child_process").spawn("sleep", ["300"], { detached: true, stdio: "inherit" })';
  const code = `${spawnAway}; c.unref(); console.log(c.pid)`;
  const result = await runProgram(process.execPath, { args: ['-e', code], timeoutMs: 60_000 });
  t.after(() => process.kill(Number(result.stdout), 'SIGKILL'));
  assert.ok(result.ms < 30_000);
  assert.ok(isAlive(Number(result.stdout)));
});

test('a program that floods its output is stopped at the limit, and what it wrote is not in the error', async () => {
  for (const stream of ['', ' >&2']) {
    const before = process.memoryUsage().rss;
    const run = runProgram(SH, { args: ['-c', `yes s3cret${stream}`], timeoutMs: 20_000, maxOutputBytes: 100_000 });
    await assert.rejects(run, (error) => {
      assert.ok(error instanceof EspalierError && error.code === 'ProgramOutputTooLarge');
      assert.doesNotMatch(JSON.stringify([error.message, error.data, error.stack]), /s3cret/);
      return true;
    });
    assert.ok(process.memoryUsage().rss - before < 100e6);
  }
});

test('secrets are hidden in stderr as a whole and line by line, and stay in stdout', async () => {
  const secret = 'canary/ÿ+1';
  const encoded = Buffer.from(`user:${secret}`).toString('base64');
  const lines: string[] = [];
  const result = await runProgram(SH, {
    args: ['-c', 'cat; printf "%s\\n%s\\n%s\\n" "$S" "$E" "$U" >&2'],
    env: { S: secret, E: encoded, U: encodeURIComponent(secret) },
    input: secret,
    secrets: [secret],
    timeoutMs: 30_000,
    onStderrLine: (line) => lines.push(line),
  });
  assert.equal(result.stdout, secret);
  assert.deepEqual(result.stderr.trim().split('\n'), ['[redacted]', lines[1], '[redacted]']);
  assert.match(lines[1] ?? '', /^\w{0,8}\[redacted\]$/);
});

test('a line of stderr that comes in pieces, with a letter cut in two, arrives as one', async () => {
  const lines: string[] = [];
  const args = ['-c', "printf 'a\\303' >&2; sleep 0.1; printf '\\266b\\nlast' >&2"];
  await runProgram(SH, { args, timeoutMs: 30_000, onStderrLine: (line) => lines.push(line) });
  assert.deepEqual(lines, ['aöb', 'last']);
});
