import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../api/index.ts';
import { failedContainers, secretsUsedBy } from './failed-pods.ts';

const ended = (exitCode: number) => ({ terminated: { exitCode } });

function pod(name: string, status: Record<string, unknown>, creationTimestamp = '2026-01-01T00:00:00Z'): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, creationTimestamp }, status };
}

test('containers that ended badly are asked, of the newest pods, as far as they are looked at', () => {
  const containerStatuses = [
    { name: 'main', state: ended(1) },
    { name: 'side', state: ended(0) },
  ];
  const pods = ['a', 'b', 'c', 'd'].map((name, index) =>
    pod(name, { phase: 'Failed', containerStatuses }, `2026-01-0${index + 1}T00:00:00Z`),
  );
  const found = failedContainers([pod('fine', { phase: 'Succeeded' }), ...pods]);
  assert.deepEqual(
    found.map((one) => `${one.pod}/${one.container}`),
    ['d/main', 'c/main', 'b/main'],
  );
});

test('one that was started again is asked for the run before, and one that never ran says why', () => {
  const [again, never] = failedContainers([
    pod('a', {
      containerStatuses: [
        { name: 'main', state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: ended(2) },
        { name: 'side', state: { running: {} } },
      ],
    }),
  ]).concat(
    failedContainers([
      pod('b', {
        containerStatuses: [{ name: 'main', state: { waiting: { reason: 'ErrImagePull', message: 'gone' } } }],
      }),
    ]),
  );
  assert.deepEqual(again, { pod: 'a', container: 'main', previous: true });
  assert.deepEqual(never, { pod: 'b', container: 'main', previous: false, never: 'ErrImagePull: gone' });
});

test('one that took too long, or was evicted, is told as ended from outside', () => {
  const containerStatuses = [{ name: 'hook', state: ended(137) }];
  const message = 'Pod was active on the node longer than the specified deadline';
  const late = pod('a', { phase: 'Failed', reason: 'DeadlineExceeded', message, containerStatuses });
  assert.deepEqual(failedContainers([late]), [
    { pod: 'a', container: 'hook', previous: false, ended: `DeadlineExceeded: ${message}` },
  ]);
});

test('the Secrets that a pod was given are those of its environment and its volumes', () => {
  const spec = {
    initContainers: [{ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'one', key: 'a' } } }] }],
    containers: [{ envFrom: [{ secretRef: { name: 'two' } }, { configMapRef: { name: 'no' } }], env: [{ name: 'B' }] }],
    volumes: [
      { secret: { secretName: 'three' } },
      { projected: { sources: [{ secret: { name: 'four' } }, { serviceAccountToken: {} }] } },
      { emptyDir: {} },
    ],
  };
  assert.deepEqual(secretsUsedBy({ ...pod('a', {}), spec }), ['one', 'two', 'three', 'four']);
});
