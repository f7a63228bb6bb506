import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../api/index.ts';
import { differences, differingPlaces } from './differences.ts';

const config = (name: string, data: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

test('what differs between two sets of objects is told by object and field, however long its value', () => {
  const long = 'x'.repeat(300);
  const ours = [config('a', { list: [1, 2], text: `${long}a` }), config('b', {})];
  const theirs = [config('a', { list: [1, 3], text: `${long}b`, more: true }), config('c', {})];
  const told = differences(ours, theirs).map(({ text }) => text);
  assert.deepEqual(told.slice(0, 2), [
    'ConfigMap a: data.list[1] is 2 in the add-on, 3 in the chart',
    'ConfigMap a: data.more is absent in the add-on, true in the chart',
  ]);
  assert.match(told[2] ?? '', /^ConfigMap a: data\.text is "x{199}… in the add-on, "x{199}… in the chart$/);
  assert.deepEqual(told.slice(3), ['ConfigMap b is in the add-on only', 'ConfigMap c is in the chart only']);
  assert.deepEqual(differences(ours, [...ours].reverse()), []);
});

test('what is another each time can be passed over, and nothing else is', () => {
  const [once, again] = [config('a', { pw: 'x', n: 1 }), config('a', { pw: 'y', n: 1 })];
  const random = differingPlaces([once, config('b', {})], [again]);
  assert.deepEqual([...random], ['ConfigMap a: data.pw']);
  const chart = [config('a', { pw: 'z', n: 2 })];
  assert.deepEqual(
    differences([once], chart, random).map(({ text }) => text),
    ['ConfigMap a: data.n is 1 in the add-on, 2 in the chart'],
  );
});
