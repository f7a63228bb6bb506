import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startProgram } from '../../src/tools/start.ts';
import { isAlive } from './support/alive.ts';
import { child } from './support/child.ts';
import { temporaryFolder } from './support/hello.ts';
import { until } from './support/until.ts';

const SH = '/bin/sh';

test('a program is handed over when it is ready, writes into its log, and is gone after stop', async (t) => {
  const logFile = join(await temporaryFolder(t), 'log');
  const args = ['-c', 'sleep 300 & echo "child $!"; sleep 0.1; echo serving; wait'];
  const ready = async () => (await readFile(logFile, 'utf8')).includes('serving');
  const program = await startProgram(SH, { args, logFile, ready });
  assert.equal(program.isRunning(), true);
  const grandchild = Number(/child (\d+)/.exec(await readFile(logFile, 'utf8'))?.[1]);
  assert.ok(isAlive(grandchild));
  await program.stop();
  assert.equal(program.isRunning(), false);
  assert.equal((await program.exited).signal, 'SIGTERM');
  await until('the grandchild is gone', () => !isAlive(grandchild));
  await program.stop();
});

test('a program that ignores SIGTERM is killed after the grace', async (t) => {
  const logFile = join(await temporaryFolder(t), 'log');
  const args = ['-c', 'trap "" TERM; echo up; while :; do sleep 0.05; done'];
  const ready = async () => (await readFile(logFile, 'utf8')).includes('up');
  const program = await startProgram(SH, { args, logFile, ready });
  await program.stop({ graceMs: 200 });
  assert.equal((await program.exited).signal, 'SIGKILL');
});

test('a program that ends before it is ready fails at once, with the end of its log and no secret', async (t) => {
  const logFile = join(await temporaryFolder(t), 'log');
  const args = ['-c', 'echo "bind: address in use, token s3cret"; exit 7'];
  const start = startProgram(SH, { args, name: 'etcd', logFile, ready: async () => false, secrets: ['s3cret'] });
  await assert.rejects(start, {
    code: 'ProgramFailed',
    message: `etcd ended with code 7 before it was ready. See ${logFile}, which ends with:\nbind: address in use, token [redacted]`,
  });
});

test('a program that is not ready in time is stopped with all that it started', async (t) => {
  const logFile = join(await temporaryFolder(t), 'log');
  const args = ['-c', 'sleep 300 & echo $!; wait'];
  // a probe that never answers must not hold up the deadline
  const start = startProgram(SH, { args, logFile, ready: () => new Promise(() => {}), readyTimeoutMs: 300 });
  await assert.rejects(start, { code: 'ProgramTimedOut', message: /^sh was not ready within 0.3 s/ });
  const pid = Number(await readFile(logFile, 'utf8'));
  await until('its child is gone', () => !isAlive(pid));
});

test('a caller that gives up while waiting gets its program stopped', async (t) => {
  const logFile = join(await temporaryFolder(t), 'log');
  const signal = AbortSignal.timeout(200);
  const start = startProgram('/bin/sleep', { args: ['300'], logFile, ready: async () => false, signal });
  await assert.rejects(start, { code: 'Aborted' });
});

test('a program dies with its whole group when the process that started it is killed with SIGKILL', async (t) => {
  const logFile = join(await temporaryFolder(t), 'log');
  const starter = child(t, 'starter.ts', logFile);
  await until('it started', async () => starter.output() !== '' && (await readFile(logFile, 'utf8')) !== '');
  const family = [Number(starter.output()), Number(await readFile(logFile, 'utf8'))];
  assert.ok(family.every(isAlive));
  starter.process.kill('SIGKILL');
  await until('all of them are gone, though they ignore SIGTERM', () => !family.some(isAlive));
});
