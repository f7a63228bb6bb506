import assert from 'node:assert/strict';
import { mkdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { withLock } from '../../src/tools/lock.ts';
import { ownerOf } from '../../src/tools/owner.ts';
import { child } from './support/child.ts';
import { namesIn, temporaryFolder } from './support/hello.ts';
import { until } from './support/until.ts';

const GONE = { token: 'x', pid: 4_194_303, started: '1', doing: 'building' };

test('of many who want a lock in several processes only one has it at any time', async (t) => {
  const file = join(await temporaryFolder(t), 'a.lock');
  const others = [child(t, 'holder.ts', file, '100'), child(t, 'holder.ts', file, '100')];
  const spans: [number, number][] = [];
  const hold = () =>
    withLock(file, { doing: 'test' }, async () => {
      const from = Date.now();
      await sleep(30);
      spans.push([from, Date.now()]);
    });
  await Promise.all([hold(), hold(), hold(), ...others.map((other) => other.ended)]);
  for (const other of others) {
    const [from, to] = [...other.output().matchAll(/\d+/g)].map(Number);
    spans.push([from ?? 0, to ?? 0]);
  }
  spans.sort(([a], [b]) => a - b);
  assert.equal(spans.length, 5);
  for (const [index, [from]] of spans.entries()) {
    assert.ok(from >= (spans[index - 1]?.[1] ?? 0), JSON.stringify(spans));
  }
  assert.deepEqual(await namesIn(join(file, '..')), []);
});

test('a lock is free at once after its holder was killed', async (t) => {
  const file = join(await temporaryFolder(t), 'a.lock');
  const holder = child(t, 'holder.ts', file, '60000');
  await until('it holds', () => holder.output().includes('in'));
  let told = '';
  const waiting = withLock(file, { doing: 'test', onWait: (owner) => (told = owner?.doing ?? '') }, async () => 'mine');
  await until('we were told who holds it', () => told === 'holding');
  const killed = Date.now();
  holder.process.kill('SIGKILL');
  assert.equal(await waiting, 'mine');
  assert.ok(Date.now() - killed < 30_000);
});

test('a pid that belongs to another process by now does not keep a lock', async (t) => {
  const file = join(await temporaryFolder(t), 'a.lock');
  const someoneElse = { ...ownerOf('x', 'old'), started: '1' };
  await writeFile(file, JSON.stringify(someoneElse));
  assert.equal(await withLock(file, { doing: 'test' }, async () => 1), 1);
});

test('of a holder on another machine only its silence tells: fresh it is respected, silent it is not', async (t) => {
  const file = join(await temporaryFolder(t), 'a.lock');
  await writeFile(file, JSON.stringify({ ...GONE, machine: 'elsewhere' }));
  const impatient = withLock(file, { doing: 'test', signal: AbortSignal.timeout(300) }, async () => 1);
  await assert.rejects(impatient, { code: 'Aborted' });
  const old = new Date(Date.now() - 61_000);
  await utimes(file, old, old);
  assert.equal(await withLock(file, { doing: 'test' }, async () => 2), 2);
});

test('a holder at work shows it: its lock never grows old', async (t) => {
  const file = join(await temporaryFolder(t), 'a.lock');
  await withLock(file, { doing: 'long', silentMs: 400 }, async () => {
    const touchedAt = async () => (await stat(file)).mtimeMs;
    const taken = await touchedAt();
    await until('it is touched', async () => (await touchedAt()) > taken);
    const touched = await touchedAt();
    await until('it is touched again', async () => (await touchedAt()) > touched);
  });
});

test('eight who find the lock of a dead holder take turns', async (t) => {
  const file = join(await temporaryFolder(t), 'a.lock');
  await writeFile(file, JSON.stringify({ ...ownerOf('x', 'old'), pid: GONE.pid }));
  await mkdir(`${file}.claim`); // left by one who was killed while removing it
  const old = new Date(Date.now() - 6000);
  await utimes(`${file}.claim`, old, old);
  let inside = 0;
  const visits = Array.from({ length: 8 }, () =>
    withLock(file, { doing: 'test' }, async () => {
      assert.equal(++inside, 1);
      await sleep(1);
      inside--;
    }),
  );
  await Promise.all(visits);
});

test('one who was taken for dead leaves the lock of its successor alone', async (t) => {
  const file = join(await temporaryFolder(t), 'a.lock');
  await withLock(file, { doing: 'slow' }, async () => {
    await writeFile(file, JSON.stringify({ ...ownerOf('successor', 'new') }));
  });
  assert.match(await readFile(file, 'utf8'), /successor/);
});
