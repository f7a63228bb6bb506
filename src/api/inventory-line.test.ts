import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  formatEntry,
  type InventoryEntry,
  parseEntry,
  withInventoryEntries,
  withInventoryLines,
} from './inventory-line.ts';

const DEPLOYMENT: InventoryEntry = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  namespace: 'web',
  name: 'frontend',
  uid: 'fe5319c2-95d7-4c8c-9cca-d4ddd9e264bd',
  applied: '747b0139751973faddab',
  fields: 'UTg9VEcbiQS4DoWU',
};
const LINE =
  'apps/v1 Deployment web/frontend uid=fe5319c2-95d7-4c8c-9cca-d4ddd9e264bd applied=747b0139751973faddab fields=UTg9VEcbiQS4DoWU';

test('an object on record is one line that people can read', () => {
  assert.equal(formatEntry(DEPLOYMENT), LINE);
  assert.equal(formatEntry({ apiVersion: 'v1', kind: 'Namespace', name: 'web' }), 'v1 Namespace web');
  const once = { key: 'shop 1.4.0', at: '2026-11-19T04:39:06Z' };
  assert.equal(
    formatEntry({ apiVersion: 'batch/v1', kind: 'Job', namespace: 'web', name: 'migrate', once }),
    'batch/v1 Job web/migrate once=shop%201.4.0 ran=2026-11-19T04:39:06Z',
  );
});

test('whatever is written is read again as it was', () => {
  const text = fc.string({ minLength: 1, unit: 'binary' }).filter((value) => value.isWellFormed());
  const word = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/);
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
  const entries = fc
    .record({
      apiVersion: fc.tuple(word, word).map((parts) => parts.join('/')),
      kind: fc.stringMatching(/^[A-Z][A-Za-z0-9]*$/),
      namespace: maybe(word),
      // No name holds a slash.
      name: text.map((value) => value.replaceAll('/', ':')),
      uid: maybe(text),
      applied: maybe(text),
      fields: maybe(text),
      once: maybe(
        fc.record({ key: text, at: maybe(text) }).map(({ key, at }) => (at === undefined ? { key } : { key, at })),
      ),
    })
    .map((entry) => Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)));
  fc.assert(
    fc.property(entries, (entry) => {
      const line = formatEntry(entry as unknown as InventoryEntry);
      assert.deepEqual(parseEntry(line), entry);
      assert.equal(/\s/.test(line.replaceAll(' ', '')), false);
    }),
  );
});

test('what nobody of ours wrote is no entry', () => {
  for (const line of ['', 'v1', 'v1 ConfigMap', 'v1 ConfigMap  uid=x', 'v1 ConfigMap a note', 'v1 ConfigMap ns/'])
    assert.equal(parseEntry(line), undefined, line);
  assert.deepEqual(parseEntry('v1 ConfigMap a%2'), { apiVersion: 'v1', kind: 'ConfigMap', name: 'a%2' });
});

test('a status goes to lines and back, as often as one likes, and keeps all else', () => {
  const status = { phase: 'Ready', inventory: [DEPLOYMENT] };
  const lines = withInventoryLines(status);
  assert.deepEqual(lines, { phase: 'Ready', inventory: [LINE] });
  assert.deepEqual(withInventoryLines(lines), lines);
  assert.deepEqual(withInventoryEntries(lines), status);
  assert.deepEqual(withInventoryEntries(withInventoryEntries(lines)), status);
  const strange = [LINE, 'by hand', {}, { apiVersion: 'v1', kind: 'ConfigMap' }, null, 7];
  assert.deepEqual(withInventoryEntries({ inventory: strange }), { inventory: [DEPLOYMENT] });
  assert.deepEqual(withInventoryLines({ phase: 'Ready' }), { phase: 'Ready' });
});
