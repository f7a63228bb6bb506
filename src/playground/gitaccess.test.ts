import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headerFor, mayUse } from './gitaccess.ts';

const credential = { user: 'ada', password: 'p:w' };

test('without a credential everybody may read and write', () => {
  assert.ok(mayUse({}, undefined, 'read'));
  assert.ok(mayUse({}, undefined, 'write'));
});

test('a private repository wants exactly its credential', () => {
  assert.ok(mayUse({ credential }, headerFor(credential), 'write'));
  assert.ok(!mayUse({ credential }, undefined, 'read'));
  assert.ok(!mayUse({ credential }, headerFor({ user: 'ada', password: 'p' }), 'read'));
  assert.ok(!mayUse({ credential }, headerFor({ bearerToken: 'p:w' }), 'read'));
});

test('a public repository is read by everybody and written with the credential', () => {
  assert.ok(mayUse({ credential, publicRead: true }, undefined, 'read'));
  assert.ok(!mayUse({ credential, publicRead: true }, undefined, 'write'));
});
