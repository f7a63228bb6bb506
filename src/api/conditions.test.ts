import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCondition, isTrue, removeCondition, setCondition, timestamp } from './conditions.ts';
import type { Condition } from './kinds/status-parts.ts';

const THEN = Date.UTC(2026, 0, 1);
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const OLD: Condition[] = [
  { type: 'Ready', status: 'False', reason: 'Waiting', message: 'waits', lastTransitionTime: timestamp(THEN) },
  { type: 'Drifted', status: 'False', reason: 'NoDrift', message: '', lastTransitionTime: timestamp(THEN) },
];

test('a new condition goes to the end, with the time of now', () => {
  const conditions = setCondition(OLD, { type: 'Held', status: 'True', reason: 'Large', message: 'm' }, NOW);
  assert.deepEqual(
    conditions.map(({ type }) => type),
    ['Ready', 'Drifted', 'Held'],
  );
  assert.equal(conditions[2]?.lastTransitionTime, '2026-01-02T03:04:05Z');
});

test('a status that flips takes the time of now and keeps its place', () => {
  const conditions = setCondition(OLD, { type: 'Ready', status: 'True', reason: 'Applied', message: 'done' }, NOW);
  assert.equal(conditions[0]?.lastTransitionTime, timestamp(NOW));
  assert.equal(isTrue(conditions, 'Ready'), true);
});

test('a new message alone keeps the time', () => {
  const conditions = setCondition(OLD, { type: 'Ready', status: 'False', reason: 'Waiting', message: 'still' }, NOW);
  assert.equal(findCondition(conditions, 'Ready')?.message, 'still');
  assert.equal(findCondition(conditions, 'Ready')?.lastTransitionTime, timestamp(THEN));
});

test('a condition that says the same gives back the very same list', () => {
  assert.equal(setCondition(OLD, { type: 'Ready', status: 'False', reason: 'Waiting', message: 'waits' }, NOW), OLD);
  assert.equal(removeCondition(OLD, 'Held'), OLD);
});

test('another generation is a change', () => {
  const update = {
    type: 'Ready',
    status: 'False',
    reason: 'Waiting',
    message: 'waits',
    observedGeneration: 2,
  } as const;
  assert.notEqual(setCondition(OLD, update, NOW), OLD);
});

test('the list that was given is never changed', () => {
  const before = structuredClone(OLD);
  setCondition(OLD, { type: 'Ready', status: 'True', reason: 'Applied', message: 'done' }, NOW);
  removeCondition(OLD, 'Ready');
  assert.deepEqual(OLD, before);
});

test('no list is an empty list', () => {
  assert.deepEqual(removeCondition(undefined, 'Ready'), []);
  assert.equal(setCondition(undefined, { type: 'Ready', status: 'True', reason: 'r', message: '' }, NOW).length, 1);
});
