import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { delegationRecord, EspalierError, type KubeObject } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { newestRecord } from './newest.ts';
import { changeFor, reportCondition } from './report.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const DONE = { status: 'True', reason: 'Done', message: 'm' } as const;
const told = { ...DONE, lastTransitionTime: '2026-01-01T00:00:00Z' };

describe('the newest record', () => {
  const made = (version: string, creationTimestamp: string, more: object = {}, expansion = 'demo'): KubeObject => {
    const record = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'n', name: `demo-delegated-${version}` };
    const object = delegationRecord({ expansion, record, conditions: ['A'] });
    return { ...object, metadata: { ...object.metadata, uid: version, creationTimestamp, ...more } };
  };
  const newest = (...objects: KubeObject[]) => newestRecord(objects, { expansion: 'demo' })?.uid;

  test('is the one that was made last, whatever its version', () =>
    assert.equal(newest(made('v2', '2026-01-01T00:00:00Z'), made('v1', '2026-01-02T00:00:00Z')), 'v1'));

  test('is that of the higher version, of two of the same second', () =>
    assert.equal(newest(made('v1.10', '2026-01-01T00:00:00Z'), made('v1.9', '2026-01-01T00:00:00Z')), 'v1.10'));

  test('is that of its own version alone, for an operator that knows it', () => {
    const records = [made('v1', '2026-01-01T00:00:00Z'), made('v2', '2026-01-02T00:00:00Z')];
    assert.equal(newestRecord(records, { expansion: 'demo', version: 'v1' })?.uid, 'v1');
    assert.equal(newestRecord(records, { expansion: 'demo', version: 'v3' }), undefined);
  });

  test('is none that is on its way out, of another expansion, or no record', () => {
    const going = made('v1', '2026-01-01T00:00:00Z', { deletionTimestamp: '2026-01-02T00:00:00Z' });
    const other = made('v2', '2026-01-01T00:00:00Z', {}, 'other');
    assert.equal(newest(going, other, made('v3', '2026-01-01T00:00:00Z', { annotations: {} })), undefined);
  });
});

describe('a report', () => {
  const configMap = (data?: Record<string, string>): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'r' },
    ...(data === undefined ? {} : { data }),
  });

  test('goes into the record under the name of its condition', () =>
    assert.deepEqual(changeFor(configMap(), 'A', DONE, NOW), { body: { data: { A: JSON.stringify(told) } } }));

  test('writes nothing that is said already', () =>
    assert.equal(changeFor(configMap({ A: JSON.stringify(told) }), 'A', DONE, NOW + 1), undefined));

  test('keeps since when it is so, when only its words change', () => {
    const change = changeFor(configMap({ A: JSON.stringify(told) }), 'A', { ...DONE, message: 'n' }, NOW + 60_000);
    assert.deepEqual(change?.body, { data: { A: JSON.stringify({ ...told, message: 'n' }) } });
  });

  test('is one line of bounded length', () => {
    const change = changeFor(configMap(), 'A', { ...DONE, message: `a\nb ${'long '.repeat(1_000)}` }, NOW);
    const { data } = (change?.body ?? {}) as { data: { A: string } };
    assert.match(JSON.parse(data.A).message, /^a b long .{0,1000}…$/);
  });

  test('goes among the conditions of a custom object, at its place, and leaves the others as they are', () => {
    const others = [{ type: 'Ready', status: 'False', extra: 1 }, 'odd', { type: 'A', status: 'False' }, null];
    const metadata = { name: 'c', resourceVersion: '7', generation: 3 };
    const object = { apiVersion: 'a.b/v1', kind: 'Cluster', metadata, status: { conditions: others, phase: 'x' } };
    const own = { type: 'A', ...told, observedGeneration: 3 };
    assert.deepEqual(changeFor(object, 'A', DONE, NOW), {
      body: { metadata: { resourceVersion: '7' }, status: { conditions: [others[0], 'odd', own, null] } },
      subresource: 'status',
    });
    assert.deepEqual(changeFor({ ...object, status: undefined }, 'A', DONE, NOW)?.body, {
      metadata: { resourceVersion: '7' },
      status: { conditions: [own] },
    });
  });
});

describe('telling', () => {
  const place = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'n', name: 'r' };
  const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'r' } };

  /** Answers each patch with the next of these; the object is there for as many looks as said. */
  function telling(answers: (EspalierError | undefined)[], looks = Number.POSITIVE_INFINITY) {
    let [asked, patches] = [0, 0];
    const client = {
      get: async () => (++asked > looks ? undefined : object),
      async patch() {
        const answer = answers[patches++];
        if (answer !== undefined) throw answer;
      },
    } as unknown as KubeClient;
    return { told: reportCondition(client, place, 'A', DONE, NOW), patches: () => patches };
  }

  const conflict = new EspalierError('KubeConflict', 'somebody else wrote');
  const missing = new EspalierError('KubeNotFound', 'not found');

  test('goes on where somebody else wrote in between, but not for ever', async () => {
    const { told, patches } = telling([conflict, conflict, undefined]);
    await told;
    assert.equal(patches(), 3);
    await assert.rejects(telling(Array(10).fill(conflict)).told, /somebody else wrote/);
  });

  test('is over when the object goes, and fails where only its status is missing', async () => {
    await telling([missing], 1).told;
    await telling([], 0).told;
    await assert.rejects(telling([missing]).told, /not found/);
  });
});
