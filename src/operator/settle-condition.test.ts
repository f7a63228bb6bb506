import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EspalierError, type Json, type KubeObject, type ObjectRef } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { type Handlers, settleCondition, type Task } from './settle-condition.ts';

const RECORD = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'n', name: 'demo-delegated-v1' };

/** Holds one ConfigMap; `said` has every status and message that was written for the condition A. */
function world(data: Record<string, string> = {}) {
  const object: KubeObject & { data: Record<string, string> } = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: RECORD.name },
    data,
  };
  const said: string[] = [];
  const state = { object: object as KubeObject | undefined, refuses: false };
  const client = {
    get: async () => state.object,
    async patch(_ref: ObjectRef, body: Json) {
      if (state.refuses) throw new EspalierError('KubeUnreachable', 'the API server is away');
      const { data: change } = body as { data: Record<string, string> };
      Object.assign(object.data, change);
      const { status, message } = JSON.parse(Object.values(change).join()) as { status: string; message: string };
      said.push(`${status}: ${message}`);
    },
  } as unknown as KubeClient;
  const task = (handlers: Handlers, more: Partial<Task> = {}): Task => ({
    ...{ client, handlers, condition: 'A', failures: 0, untold: undefined },
    delegation: { expansion: 'demo', record: RECORD, conditions: ['A'] },
    signal: new AbortController().signal,
    now: () => 0,
    log: () => undefined,
    ...more,
  });
  return { state, said, task };
}

describe('a delegated condition', () => {
  test('is worked on, and told with what the handler says', async () => {
    const { said, task } = world();
    const handlers: Handlers = {
      async A({ condition, expansion, namespace, record, progress }) {
        await progress('half way');
        return [condition, expansion, namespace, record].join(' ');
      },
    };
    assert.deepEqual(await settleCondition(task(handlers)), { state: 'told' });
    assert.deepEqual(said, ['False: it is being worked on', 'False: half way', 'True: A demo n demo-delegated-v1']);
  });

  test('is left alone when it is true, and when there is nothing to tell it on', async () => {
    const { state, said, task } = world({ A: 'True' });
    const handlers = { A: () => assert.fail('ran') };
    assert.deepEqual(await settleCondition(task(handlers)), { state: 'nothing to do' });
    state.object = undefined;
    assert.deepEqual(await settleCondition(task(handlers)), { state: 'nothing to do' });
    assert.deepEqual(said, []);
  });

  test('is told as failed, with why, and not hidden by the next try', async () => {
    const { said, task } = world();
    const failing = { A: () => Promise.reject(new Error('disk full')) };
    await assert.rejects(settleCondition(task(failing)), /disk full/);
    await assert.rejects(settleCondition(task(failing, { failures: 1 })), /disk full/);
    assert.deepEqual(said, ['False: it is being worked on', 'False: disk full']);
  });

  test('that nobody handles says so, and names who is handled', async () => {
    const { said, task } = world();
    const handlers = { B: async () => undefined, toString: async () => undefined };
    await settleCondition(task(handlers));
    await settleCondition(task({}, { condition: 'constructor' }));
    const unknown = 'False: the operator does not know it; it has';
    assert.deepEqual(said, [`${unknown} B, toString`, `${unknown} none`]);
  });

  test('is not worked for again when it was only not told', async () => {
    const { state, said, task } = world({ A: 'False' });
    state.refuses = true;
    const settled = await settleCondition(task({ A: async () => 'made' }));
    assert.equal(settled.state === 'untold' && settled.message, 'made');
    state.refuses = false;
    await settleCondition(task({ A: () => assert.fail('ran again') }, { untold: 'made' }));
    assert.deepEqual(said, ['True: made']);
  });

  test('whose handler is told to end has not failed; one that took too long has', async () => {
    const { said, task } = world({ A: 'False' });
    const abort = new AbortController();
    const handlers: Handlers = {
      A: ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended')))),
    };
    const run = settleCondition(task(handlers, { signal: abort.signal }));
    setImmediate(() => abort.abort());
    await assert.rejects(run, /ended/);
    assert.deepEqual(said, []);
    const late = new AbortController();
    const second = settleCondition(task(handlers, { signal: late.signal }));
    setImmediate(() => late.abort(new EspalierError('DeadlineExceeded', 'A took longer than 5 s')));
    await assert.rejects(second, /longer than 5 s/);
    assert.deepEqual(said, ['False: A took longer than 5 s']);
  });
});
