import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type InventoryEntry, refKey } from '../api/index.ts';
import { intend, readInventory, sameInventory, settled } from './inventory.ts';

const REF = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'web', name: 'migrate' };
const KEY = refKey(REF);
const RAN: InventoryEntry = {
  ...REF,
  uid: 'u',
  applied: 'h1',
  fields: 'f',
  once: { key: 'v1', at: '2026-01-01T00:00:00Z' },
};

const intended = (entry: InventoryEntry | undefined, about: { once?: string; isAnew?: boolean }, hash = 'h2') =>
  intend(readInventory(entry === undefined ? [] : [entry]), [{ ref: REF, ...about }], new Map([[KEY, hash]])).get(KEY);

test('what is about to be written is on record with the key under which it runs', () => {
  assert.deepEqual(intended(undefined, { once: 'v1' }), { ...REF, once: { key: 'v1' } });
  assert.deepEqual(intended(RAN, { once: 'v2' }), { ...REF, uid: 'u', fields: 'f', once: { key: 'v2' } });
  // It runs once no more.
  assert.deepEqual(intended(RAN, {}), { ...REF, uid: 'u', fields: 'f' });
});

test('what is replaced is on record by its name alone: its labels say whose the next one is', () => {
  assert.deepEqual(intended(RAN, { once: 'v1', isAnew: true }, 'h1'), { ...REF, once: { key: 'v1' } });
});

test('a write keeps what was meant with it, and a run that is over is news', () => {
  const written = { apiVersion: 'batch/v1', kind: 'Job', metadata: { namespace: 'web', name: 'migrate', uid: 'u' } };
  const entry = settled(written, 'h1', 'f', { key: 'v1' });
  assert.deepEqual(entry, { ...REF, uid: 'u', applied: 'h1', fields: 'f', once: { key: 'v1' } });
  assert.equal(sameInventory(new Map([[KEY, entry]]), new Map([[KEY, RAN]])), false);
  assert.equal(sameInventory(new Map([[KEY, RAN]]), new Map([[KEY, { ...RAN }]])), true);
});
