import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairLine } from './fair-line.ts';

function newLine(patienceMs = 1_000): FairLine {
  return new FairLine(patienceMs, (key) => key.split('/')[0] ?? '');
}

function takeAll(line: FairLine, now = 0): (string | undefined)[] {
  return Array.from({ length: line.size }, () => line.take(now));
}

test('the more urgent key goes first, whenever it came', () => {
  const line = newLine();
  line.push('p/low', 0, 0);
  line.push('p/high', 10, 1);
  line.push('p/middle', 5, 2);
  assert.deepEqual(takeAll(line, 3), ['p/high', 'p/middle', 'p/low']);
});

test('keys of one group and priority keep the order in which they came', () => {
  const line = newLine();
  for (const key of ['p/c', 'p/a', 'p/b']) line.push(key, 0, 0);
  assert.deepEqual(takeAll(line), ['p/c', 'p/a', 'p/b']);
});

test('a group with many keys takes turns with a group of few', () => {
  const line = newLine();
  for (const key of ['p/1', 'p/2', 'p/3', 'p/4', 's/1', 's/2']) line.push(key, 0, 0);
  assert.deepEqual(takeAll(line), ['p/1', 's/1', 'p/2', 's/2', 'p/3', 'p/4']);
});

test('a key that is asked for again with more urgency moves up, and stays up', () => {
  const line = newLine();
  line.push('p/1', 5, 0);
  line.push('p/2', 0, 0);
  line.push('p/2', 10, 0);
  line.push('p/2', 1, 0);
  assert.equal(line.size, 2);
  assert.deepEqual(takeAll(line), ['p/2', 'p/1']);
});

test('a key that waited too long goes before every urgent one', () => {
  const line = newLine(1_000);
  line.push('p/patient', 0, 0);
  line.push('p/urgent', 10, 900);
  assert.equal(line.take(999), 'p/urgent');
  line.push('p/urgent', 10, 999);
  assert.equal(line.take(1_000), 'p/patient');
});

test('says since when the oldest key waits, also after it moved up', () => {
  const line = newLine();
  assert.equal(line.oldest(), undefined);
  line.push('p/1', 0, 5);
  line.push('s/2', 0, 7);
  line.push('p/1', 3, 9);
  assert.equal(line.oldest(), 5);
  assert.equal(line.take(10), 'p/1');
  assert.equal(line.oldest(), 7);
});

test('an empty line has nobody to serve', () => {
  assert.equal(newLine().take(0), undefined);
});
