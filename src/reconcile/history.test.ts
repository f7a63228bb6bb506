import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baseOf, historySince } from './history.ts';

const [OLD, NEW] = ['a'.repeat(40), 'b'.repeat(40)];
const entry = { apiVersion: 'espalier.dev/v1alpha1', kind: 'Plugin', namespace: 'platform', name: 'a' };
const repository = (answer: 'yes' | 'no' | 'unknown') => ({ isAncestor: async () => answer });

test('removals are measured against the applied commit, and against the one before while some wait', () => {
  assert.equal(baseOf({}), undefined);
  assert.deepEqual(baseOf({ status: { commit: NEW, inventory: [entry] } }), { commit: NEW, count: 1 });
  const waiting = { commit: NEW, inventory: [entry], base: { commit: OLD, count: 5 } };
  assert.deepEqual(baseOf({ status: waiting }), { commit: OLD, count: 5 });
});

test('a commit that descends from the base goes forward; what cannot be told is not taken for that', async () => {
  const base = { commit: OLD, count: 1 };
  assert.equal(await historySince(repository('no'), undefined, NEW), 'first');
  assert.equal(await historySince(repository('no'), base, OLD), 'forward');
  assert.equal(await historySince(repository('yes'), base, NEW), 'forward');
  assert.equal(await historySince(repository('no'), base, NEW), 'rewritten');
  assert.equal(await historySince(repository('unknown'), base, NEW), 'unknown');
});
