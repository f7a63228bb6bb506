import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerFailure } from './failure.ts';

const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'web', name: 'front' };
const secret = { apiVersion: 'v1', kind: 'Secret', namespace: 'web', name: 'token' };

function answer(status: number, body: object | string = {}, headers = {}) {
  return { status, headers, body: typeof body === 'string' ? body : JSON.stringify({ kind: 'Status', ...body }) };
}

for (const [status, body, code] of [
  [400, { reason: 'BadRequest' }, 'KubeInvalid'],
  [401, { reason: 'Unauthorized' }, 'KubeUnauthorized'],
  [403, { reason: 'Forbidden' }, 'KubeForbidden'],
  [404, { reason: 'NotFound' }, 'KubeNotFound'],
  [409, { reason: 'Conflict' }, 'KubeConflict'],
  [409, { reason: 'AlreadyExists' }, 'KubeAlreadyExists'],
  [410, { reason: 'Expired' }, 'KubeGone'],
  [422, { reason: 'Invalid' }, 'KubeInvalid'],
  [429, { reason: 'TooManyRequests' }, 'KubeThrottled'],
  [500, { reason: 'InternalError' }, 'KubeServerError'],
  [503, '<html>', 'KubeServerError'],
  [504, { reason: 'Timeout' }, 'KubeTimedOut'],
  [302, '<html>', 'KubeBadAnswer'],
] as const) {
  test(`${status} ${typeof body === 'string' ? 'without a status' : body.reason} is ${code}`, () => {
    assert.equal(answerFailure('get', deployment, answer(status, body)).code, code);
  });
}

test('the message names verb, object and the server’s words', () => {
  const { message, data } = answerFailure('patch', deployment, answer(403, { reason: 'Forbidden', message: 'no way' }));
  assert.match(message, /^patch Deployment web\/front: no way\. If rights are missing, grant/);
  assert.equal(data.object, 'Deployment web/front');
  assert.equal(data.status, 403);
});

test('an apply conflict lists each field with its manager', () => {
  const causes = [
    {
      reason: 'FieldManagerConflict',
      message: 'conflict with "kubectl-client-side-apply" using apps/v1',
      field: '.spec.replicas',
    },
    {
      reason: 'FieldManagerConflict',
      message: 'conflict with "odd \\"name\\"" with subresource "scale"',
      field: '.spec.paused',
    },
  ];
  const error = answerFailure('apply', deployment, answer(409, { reason: 'Conflict', details: { causes } }));
  assert.equal(error.code, 'KubeApplyConflict');
  assert.equal(error.retry, false);
  assert.deepEqual(error.data.conflicts, [
    { field: '.spec.replicas', manager: 'kubectl-client-side-apply' },
    { field: '.spec.paused', manager: 'odd "name"' },
  ]);
  assert.match(error.message, /let kubectl-client-side-apply, odd "name" give them up/);
});

test('nothing that the server says about a Secret is repeated', () => {
  const causes = [{ reason: 'FieldValueInvalid', message: 'Invalid value: "c4n4ry"', field: 'data[key]' }];
  const error = answerFailure(
    'apply',
    secret,
    answer(422, { reason: 'Invalid', message: 'data[key]: Invalid value: "c4n4ry"', details: { causes } }),
  );
  assert.doesNotMatch(JSON.stringify([error.message, error.data]), /c4n4ry/);
  assert.match(error.message, /^apply Secret web\/token: Invalid at data\[key\]/);
});

test('the server’s wish to wait is kept, from the header or the status', () => {
  assert.equal(answerFailure('get', deployment, answer(429, {}, { 'retry-after': '3' })).retryAfterMs, 3_000);
  assert.equal(
    answerFailure('get', deployment, answer(504, { details: { retryAfterSeconds: 2 } })).retryAfterMs,
    2_000,
  );
});
