import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deliveries } from './deliveries.ts';
import { type Hook, readHook } from './hook.ts';

function read(headers: Record<string, string>, payload: unknown = {}): Hook {
  return readHook(new Headers(headers), Buffer.from(JSON.stringify(payload)));
}

test('tells what the hooks of every forge are about', () => {
  const cases: [Record<string, string>, unknown, Hook][] = [
    [{ 'x-github-event': 'push', 'x-github-delivery': 'd1' }, {}, { about: 'push', delivery: 'd1' }],
    [{ 'x-github-event': 'pull_request' }, { number: 7 }, { about: 'pull-request', number: 7 }],
    [
      { 'x-github-event': 'issue_comment' },
      { issue: { number: 7, pull_request: {} } },
      { about: 'comment', number: 7 },
    ],
    [{ 'x-github-event': 'issue_comment' }, { issue: { number: 7 } }, { about: 'other' }],
    [{ 'x-github-event': 'ping' }, { zen: 'x' }, { about: 'ping' }],
    [
      { 'x-gitea-event': 'push', 'x-github-event': 'push', 'x-gitea-delivery': 'g1', 'x-github-delivery': 'g1' },
      {},
      { about: 'push', delivery: 'g1' },
    ],
    [
      { 'x-gitea-event': 'pull_request' },
      { number: 3, pull_request: { number: 3 } },
      { about: 'pull-request', number: 3 },
    ],
    [{ 'x-gitea-event': 'issue_comment' }, { is_pull: true, issue: { number: 4 } }, { about: 'comment', number: 4 }],
    [{ 'x-gitea-event': 'pull_request_comment' }, { issue: { number: 4 } }, { about: 'comment', number: 4 }],
    [{ 'x-forgejo-event': 'push', 'x-forgejo-delivery': 'f1' }, {}, { about: 'push', delivery: 'f1' }],
    [
      { 'x-gitlab-event': 'Push Hook', 'x-gitlab-event-uuid': 'u1', 'x-gitlab-webhook-uuid': 'always the same' },
      {},
      { about: 'push', delivery: 'Push Hook u1' },
    ],
    [
      { 'x-gitlab-event': 'Merge Request Hook', 'idempotency-key': 'i1', 'x-gitlab-event-uuid': 'u1' },
      { object_attributes: { iid: 5 } },
      { about: 'pull-request', delivery: 'i1', number: 5 },
    ],
    [
      { 'x-gitlab-event': 'Note Hook' },
      { object_attributes: { id: 99 }, merge_request: { iid: 5 } },
      { about: 'comment', number: 5 },
    ],
    [{ 'x-gitlab-event': 'Note Hook' }, { issue: { iid: 5 } }, { about: 'other' }],
    [{ 'x-event-key': 'repo:push', 'x-request-uuid': 'r1' }, {}, { about: 'push', delivery: 'repo:push r1' }],
    [{ 'x-event-key': 'pullrequest:updated' }, { pullrequest: { id: 8 } }, { about: 'pull-request', number: 8 }],
    [{ 'x-event-key': 'pullrequest:comment_created' }, { pullrequest: { id: 8 } }, { about: 'comment', number: 8 }],
    [
      { 'x-event-key': 'repo:refs_changed', 'x-request-id': 'r2' },
      {},
      { about: 'push', delivery: 'repo:refs_changed r2' },
    ],
    [{ 'x-event-key': 'pr:from_ref_updated' }, { pullRequest: { id: 9 } }, { about: 'pull-request', number: 9 }],
    [{ 'x-event-key': 'pr:comment:added' }, { pullRequest: { id: 9 } }, { about: 'comment', number: 9 }],
    [{ 'x-event-key': 'diagnostics:ping' }, { test: true }, { about: 'ping' }],
    [{ 'x-github-event': 'star' }, {}, { about: 'other' }],
    [{}, {}, { about: 'push' }],
  ];
  for (const [headers, payload, hook] of cases) assert.deepEqual(read(headers, payload), hook, JSON.stringify(headers));
});

test('S25: reads whatever is sent without throwing', () => {
  const event = { 'x-github-event': 'pull_request' };
  for (const payload of [
    null,
    [],
    'text',
    7,
    { number: 'x' },
    { number: -1 },
    { number: 1.5 },
    { pull_request: null },
  ]) {
    assert.deepEqual(read(event, payload), { about: 'pull-request' }, JSON.stringify(payload));
  }
  for (const body of ['', '{', '{"number":', '\u0000', '[[[[', '{"__proto__":{"number":3}}']) {
    assert.deepEqual(readHook(new Headers(event), Buffer.from(body)), { about: 'pull-request' }, body);
  }
  assert.deepEqual(readHook(new Headers(event), Buffer.from([0xff, 0xfe, 0x00])), { about: 'pull-request' });
});

test('reads a form as GitHub sends it', () => {
  const headers = new Headers({
    'x-github-event': 'pull_request',
    'content-type': 'application/x-www-form-urlencoded',
  });
  const form = new URLSearchParams({ payload: JSON.stringify({ number: 12 }) });
  assert.deepEqual(readHook(headers, Buffer.from(form.toString())), { about: 'pull-request', number: 12 });
  assert.deepEqual(readHook(headers, Buffer.from('payload=%7B')), { about: 'pull-request' });
  assert.deepEqual(readHook(headers, Buffer.from('other=1')), { about: 'pull-request' });
});

test('remembers deliveries by who received them, and no more than its bound', () => {
  const deliveries = new Deliveries(2);
  assert.equal(deliveries.isReplay('team/a', 'd1'), false);
  assert.equal(deliveries.isReplay('team/a', 'd1'), true);
  assert.equal(deliveries.isReplay('team/b', 'd1'), false);
  assert.equal(deliveries.isReplay('team/a', undefined), false);
  assert.equal(deliveries.isReplay('team/a', undefined), false);
  assert.equal(deliveries.isReplay('team/a', 'd2'), false);
  assert.equal(deliveries.isReplay('team/a', 'd1'), false);
});
