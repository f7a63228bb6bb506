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
  [500, { message: 'etcdserver: request is too large' }, 'KubeInvalid'],
  [503, '<html>', 'KubeServerError'],
  [504, { reason: 'Timeout' }, 'KubeTimedOut'],
  [302, '<html>', 'KubeBadAnswer'],
] as const) {
  test(`${status} ${typeof body === 'string' ? 'without a status' : Object.values(body).join()} is ${code}`, () => {
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

const MISFITS = `failed to create typed patch object (web/front; apps/v1, Kind=Deployment): errors:
  .spec.type: expected string, got &value.valueUnstructured{Value:[]interface {}{1}}
  .spec.ports: duplicate entries for key [port=80,protocol="TCP"]
  .spec.replicaCount: field not declared in schema`;

test('what does not fit the schema of its kind is a mistake in the object, told in a lasting order', () => {
  const error = answerFailure('apply', deployment, answer(500, { reason: '', message: MISFITS }));
  assert.deepEqual([error.code, error.retry], ['KubeInvalid', false]);
  assert.equal(
    error.message,
    'apply Deployment web/front: it does not fit the schema of its kind: .spec.ports: duplicate entries for key ' +
      '[port=80,protocol="TCP"]; .spec.replicaCount: field not declared in schema; .spec.type: expected string, got a list',
  );
});

test('a number where a string belongs says what to do', () => {
  const said =
    'failed to create typed patch object (web/a; /v1, Kind=ConfigMap): .data.port: expected string, got &value.valueUnstructured{Value:80}';
  const { message } = answerFailure('apply', { kind: 'ConfigMap', name: 'a' }, answer(500, { message: said }));
  assert.match(
    message,
    /\.data\.port: expected string, got 80\. Numbers, true and false are no strings: write them in q/,
  );
});

test('of a Secret that does not fit, the places are told and no value', () => {
  const said = `failed to create typed patch object (web/token; /v1, Kind=Secret): errors:
  .stringData.pin: expected string, got &value.valueUnstructured{Value:4711}
  .stringData.more: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":"c4n4ry
  .x: field not declared in schema"}}
  .datta: field not declared in schema`;
  const { message, data } = answerFailure('apply', secret, answer(500, { message: said }));
  assert.doesNotMatch(JSON.stringify([message, data]), /4711|c4n4ry/);
  assert.match(
    message,
    /: \.datta: field not declared in schema; \.stringData\.more: expected string; \.stringData\.pin/,
  );
});

test('a conversion webhook that does not answer is no mistake in the object', () => {
  const said =
    'failed to convert new object (web/a; example.com/v1, Kind=Gadget) to proper version: conversion webhook for example.com/v2, Kind=Gadget failed: Post "https://x": dial tcp: connection refused';
  const { code, retry } = answerFailure('apply', { kind: 'Gadget', name: 'a' }, answer(500, { message: said }));
  assert.deepEqual([code, retry], ['KubeServerError', true]);
});
