import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acquisition, leaseObject, readLease, waitForRival } from './leaserecord.ts';

const ref = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: 'system', name: 'leader' };
const me = { identity: 'me', now: 50_000, durationMs: 10_000 };

function lease(holder: string, renewedAt = 't1') {
  const object = {
    ...ref,
    metadata: { name: 'leader', namespace: 'system', resourceVersion: '7', labels: { a: 'b' } },
    spec: {
      holderIdentity: holder,
      leaseDurationSeconds: 20,
      leaseTransitions: 4,
      acquireTime: 't0',
      renewTime: renewedAt,
      strategy: 'x',
    },
  };
  return readLease(object);
}

test('a lease that nobody holds, or that does not exist, may be taken at once', () => {
  assert.equal(waitForRival(undefined, undefined, me).waitMs, 0);
  assert.equal(waitForRival(lease(''), undefined, me).waitMs, 0);
  assert.equal(waitForRival(lease('me'), undefined, me).waitMs, 0);
});

test('another holder has its own duration from when we saw it renew, whatever its clock says', () => {
  const first = waitForRival(lease('other'), undefined, me);
  assert.equal(first.waitMs, 20_000);
  const later = waitForRival(lease('other'), first.rival, { ...me, now: 65_000 });
  assert.equal(later.waitMs, 5_000);
  assert.equal(waitForRival(lease('other'), later.rival, { ...me, now: 70_000 }).waitMs, 0);
  assert.equal(waitForRival(lease('other', 't2'), later.rival, { ...me, now: 70_000 }).waitMs, 20_000);
});

test('taking a lease counts the transition and keeps what else is in it', () => {
  const taken = leaseObject(ref, acquisition(lease('other'), { identity: 'me', durationMs: 10_000, time: 'now' }));
  assert.deepEqual(taken.metadata, { name: 'leader', namespace: 'system', resourceVersion: '7', labels: { a: 'b' } });
  assert.deepEqual(taken.spec, {
    holderIdentity: 'me',
    leaseDurationSeconds: 10,
    leaseTransitions: 5,
    acquireTime: 'now',
    renewTime: 'now',
    strategy: 'x',
  });
});
