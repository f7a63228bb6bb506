import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isError } from '../api/index.ts';
import { loginFromSecret } from './login.ts';

test('takes a token, a bearer token, or a name with a password', () => {
  assert.equal(headerOf({ token: 'abc\n' }), 'Bearer abc');
  assert.equal(headerOf({ bearerToken: 'abc' }), 'Bearer abc');
  assert.equal(headerOf({ username: 'ada', password: 'pw' }), `Basic ${Buffer.from('ada:pw').toString('base64')}`);
  assert.equal(headerOf({ token: 'abc', username: 'ada', password: 'pw' }), 'Bearer abc');
});

test('says which key is missing or wrong, and never its value', () => {
  for (const [secret, said] of [
    [{}, /`token`/],
    [{ username: 'ada' }, /`password`/],
    [{ token: 'two canary' }, /`token`/],
    [{ token: 'canary\r\nx-evil: 1' }, /`token`/],
    [{ githubAppID: '1', githubAppPrivateKey: 'canary' }, /`githubAppInstallationID`/],
    [{ githubAppID: '1', githubAppInstallationID: 'canary', githubAppPrivateKey: 'x' }, /no number/],
  ] as const) {
    assert.throws(
      () => loginFromSecret(secret),
      (error) => {
        assert.ok(isError(error, 'ForgeAuthFailed'));
        assert.equal(error.retry, false);
        assert.match(error.message, said);
        assert.doesNotMatch(error.message, /canary/);
        return true;
      },
    );
  }
});

test('takes nothing from the prototype of a Secret', () => {
  assert.throws(() => loginFromSecret(Object.create({ token: 'abc' })), isError);
});

function headerOf(secret: Record<string, string>): string | undefined {
  const login = loginFromSecret(secret);
  return login.kind === 'token' ? login.header : undefined;
}
