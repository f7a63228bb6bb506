import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventRecorder, type EventInput } from '../../src/cluster/events.ts';
import { FakeClock } from '../support/clock.ts';
import { kubectl, testClient, testKubeconfig, testNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { startHttpProxy } from '../support/httpproxy.ts';

const reporter = { controller: 'espalier.dev/test', instance: 'test-1' };
/** All that waits is sent, however slow the API server is. */
const PATIENT_MS = 30_000;

function about(namespace: string, note = 'applied 3 objects'): EventInput {
  const regarding = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'a' };
  return { regarding, type: 'Normal', reason: 'Applied', action: 'Reconcile', note };
}

test('an event is found by kubectl, and its repetitions are counted and not piled up', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const clock = new FakeClock(Date.now());
  const recorder = createEventRecorder(client, { ...reporter, clock });
  t.after(() => recorder.stop());
  const target = { apiVersion: 'events.k8s.io/v1', kind: 'Event', namespace };

  recorder.record(about(namespace));
  await eventually(async () => assert.equal((await client.list(target)).items.length, 1));
  for (let i = 0; i < 5; i++) {
    recorder.record(about(namespace));
    clock.jump(1_000);
  }
  recorder.record(about(namespace, 'applied 4 objects'));
  await eventually(async () => assert.equal((await client.list(target)).items.length, 2));
  clock.jump(6 * 60_000);
  recorder.record(about(namespace));
  await eventually(async () => {
    const { items } = await client.list({ ...target, fieldSelector: 'reason=Applied' });
    const repeated = items.find((item) => item.note === 'applied 3 objects');
    assert.deepEqual({ ...(repeated?.series as object), lastObservedTime: '' }, { count: 7, lastObservedTime: '' });
  });
  assert.match(await kubectl('get', 'events', '-n', namespace), /Applied +configmap\/a +applied 4 objects/);
});

test('a note that is too long is cut, and an event about a cluster-scoped object lands in default', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const recorder = createEventRecorder(client, reporter);
  const regarding = { apiVersion: 'v1', kind: 'Namespace', name: namespace };
  recorder.record({ regarding, type: 'Warning', reason: 'Failed', action: 'Reconcile', note: 'ü'.repeat(2_000) });
  await recorder.stop(PATIENT_MS);
  assert.equal(recorder.dropped, 0);
  const { items } = await client.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event', namespace: 'default' });
  const event = items.find((item) => JSON.stringify(item.regarding).includes(namespace));
  assert.match(String(event?.note), /^ü{500,}…$/);
});

test('events that can’t be sent are dropped and reported, the caller never notices', async (t) => {
  const namespace = await testNamespace(t);
  const proxy = await startHttpProxy({ kubeconfig: testKubeconfig() });
  t.after(() => proxy.close());
  const client = testClient({ kubeconfig: { text: proxy.kubeconfig } });
  await client.resource('events.k8s.io/v1', 'Event');
  const errors: string[] = [];
  const options = { ...reporter, queueLimit: 10, onError: ({ code }: { code: string }) => errors.push(code) };
  const recorder = createEventRecorder(client, options);
  proxy.before = () => ({ status: 500 });
  for (let i = 0; i < 100; i++) recorder.record(about(namespace, `note ${i}`));
  await recorder.stop(PATIENT_MS);
  assert.ok(recorder.dropped >= 90, `${recorder.dropped} dropped`);
  assert.ok(errors.includes('KubeServerError'));
  recorder.record(about(namespace));
  assert.ok(proxy.mutations <= 11, 'the queue is bounded');
});

test('stopping does not wait for a server that hangs', async (t) => {
  const namespace = await testNamespace(t);
  const proxy = await startHttpProxy({ kubeconfig: testKubeconfig() });
  t.after(() => proxy.close());
  const client = testClient({ kubeconfig: { text: proxy.kubeconfig } });
  proxy.before = () => 'hang';
  const errors: string[] = [];
  const recorder = createEventRecorder(client, { ...reporter, onError: ({ code }) => errors.push(code) });
  recorder.record(about(namespace));
  await recorder.stop(200);
  assert.deepEqual(errors, ['Aborted'], 'and not given up when the time of the request was over');
});
