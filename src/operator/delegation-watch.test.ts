import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { delegationRecord, type KubeObject } from '../api/index.ts';
import type { KubeClient, ListTarget, WatchLine } from '../cluster/client.ts';
import { DelegationWatch } from './delegation-watch.ts';

const CLUSTER = { apiVersion: 'a.b/v1', kind: 'Cluster', namespace: 'n', name: 'global' };

function record(version: string, data: Record<string, string> = {}, on?: typeof CLUSTER): KubeObject {
  const place = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'n', name: `demo-delegated-${version}` };
  const object = delegationRecord({
    ...{ expansion: 'demo', record: place, conditions: ['A', 'B'] },
    ...(on === undefined ? {} : { on }),
  });
  const metadata = { ...object.metadata, uid: version, creationTimestamp: `2026-01-01T00:00:0${version}Z` };
  return { ...object, metadata, data };
}

/** A watch of what `records` lists, with `tell` for what changes afterwards. */
async function follow(t: { after(fn: () => void): void }, records: KubeObject[]) {
  const ended = new AbortController();
  t.after(() => ended.abort());
  const lines = new Map<string, (line: WatchLine) => void>();
  let version = 0;
  const at = (object: KubeObject): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, resourceVersion: `${++version}` },
  });
  const client = {
    async pages({ kind }: ListTarget, onPage: (items: KubeObject[], page: { restarted: boolean }) => void) {
      if (kind === 'ConfigMap') onPage(records.map(at), { restarted: false });
      return { resourceVersion: '0' };
    },
    watchOnce({ kind }: ListTarget, { onLine, signal }: { onLine(line: WatchLine): void; signal: AbortSignal }) {
      lines.set(kind, onLine);
      return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  } as unknown as KubeClient;
  const news: string[] = [];
  const watch = new DelegationWatch({
    ...{ client, namespace: 'n', expansion: 'demo', signal: ended.signal },
    onNews: (condition) => news.push(condition),
    onTrouble: (_, error) => assert.fail(error),
  });
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  await turns();
  const tell = (object: KubeObject, type: 'MODIFIED' | 'DELETED' = 'MODIFIED'): string[] => {
    lines.get(object.kind)?.({ type, object: at(object) });
    return news.splice(0);
  };
  return { watch, tell, turns, first: news.splice(0) };
}

describe('what an operator hears of', () => {
  test('is what is not true at first, and what ceases to be; not what it writes on the way there', async (t) => {
    const { first, tell } = await follow(t, [record('1', { A: 'True' })]);
    assert.deepEqual(first, ['B']);
    assert.deepEqual(tell(record('1', { A: 'True', B: '{"status":"False","message":"at work"}' })), []);
    assert.deepEqual(tell(record('1', { A: 'True', B: '{"status":"False","message":"failed"}' })), []);
    assert.deepEqual(tell(record('1', { A: 'False', B: 'True' })), ['A']);
    assert.deepEqual(tell(record('1', { A: 'False' })), ['B']);
  });

  test('is everything, when another version of the package takes over', async (t) => {
    const { watch, tell } = await follow(t, [record('1', { A: 'False', B: 'True' })]);
    const before = watch.current();
    assert.deepEqual(tell(record('2', { A: 'False' })), ['A', 'B']);
    assert.equal(before?.replaced.aborted, true);
    assert.equal(watch.current()?.delegation.record.name, 'demo-delegated-2');
    assert.deepEqual(tell(record('1'), 'DELETED'), []);
    assert.deepEqual(tell(record('2'), 'DELETED'), []);
    assert.equal(watch.current(), undefined);
  });

  test('is told by the custom object where the record names one', async (t) => {
    const { first, tell, turns } = await follow(t, [record('1', { A: 'False' }, CLUSTER)]);
    await turns();
    assert.deepEqual(first, []);
    const { name, namespace, ...kind } = CLUSTER;
    const cluster = { ...kind, metadata: { name, namespace, uid: 'c' } };
    const status = { conditions: [{ type: 'B', status: 'True' }] };
    assert.deepEqual(tell({ ...cluster, status }), ['A']);
    assert.deepEqual(tell(cluster), ['B']);
    assert.deepEqual(tell(cluster, 'DELETED'), []);
    assert.deepEqual(tell({ ...cluster, status }), ['A']);
  });
});
