import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../test/support/clock.ts';
import type { KubeObject } from '../api/index.ts';
import { createEventRecorder } from './events.ts';
import type { KubeClient } from './kubeclient.ts';

function world() {
  const clock = new FakeClock(0);
  const sent: unknown[] = [];
  const client = {
    async create(object: KubeObject) {
      sent.push(object.note);
      return object;
    },
  } as unknown as KubeClient;
  const state = { isBusy: true };
  const recorder = createEventRecorder(client, { controller: 'c', instance: 'i', clock, isBusy: () => state.isBusy });
  const regarding = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'a' };
  const tell = (note: string) =>
    recorder.record({ regarding, type: 'Normal', reason: 'Ready', action: 'Reconcile', note });
  const pass = (ms: number) => clock.advance(ms);
  return { sent, state, recorder, tell, pass };
}

test('events wait while there is more urgent work, and are sent when it is done', async () => {
  const { sent, state, tell, pass } = world();
  tell('one');
  tell('two');
  await pass(500);
  assert.deepEqual(sent, []);
  state.isBusy = false;
  await pass(200);
  assert.deepEqual(sent, [], 'it may go on');
  state.isBusy = true;
  await pass(50);
  state.isBusy = false;
  await pass(200);
  assert.deepEqual(sent, []);
  await pass(100);
  assert.deepEqual(sent, ['one', 'two']);
});

test('no event waits for more than some seconds, nor when the agent ends', async () => {
  const { sent, recorder, tell, pass } = world();
  tell('old');
  await pass(5_000);
  assert.deepEqual(sent, ['old']);
  tell('last');
  await pass(100);
  await recorder.stop();
  assert.deepEqual(sent, ['old', 'last']);
});
