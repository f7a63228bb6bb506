import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isError } from '../api/index.ts';
import { credentialsFromSecret } from './credentials.ts';

const URL = 'https://git.example.com/a.git';

test('reads the keys that Flux reads', () => {
  assert.deepEqual(credentialsFromSecret({ username: 'u', password: 'p', 'ca.crt': 'PEM' }, URL), {
    kind: 'basic',
    username: 'u',
    password: 'p',
    caBundle: 'PEM',
  });
  assert.deepEqual(credentialsFromSecret({ bearerToken: 't' }, URL), { kind: 'bearer', token: 't' });
  assert.deepEqual(
    credentialsFromSecret(
      { identity: 'KEY', 'identity.pub': 'PUB', known_hosts: 'HOSTS', password: 'phrase' },
      'git@git.example.com:a',
    ),
    {
      kind: 'ssh',
      identity: 'KEY',
      publicKey: 'PUB',
      knownHosts: 'HOSTS',
      passphrase: 'phrase',
    },
  );
  const app = { githubAppID: '1', githubAppInstallationID: '2', githubAppPrivateKey: 'KEY' };
  assert.deepEqual(credentialsFromSecret(app, 'https://github.com/o/r'), {
    kind: 'githubApp',
    appId: '1',
    installationId: '2',
    privateKey: 'KEY',
    apiUrl: 'https://api.github.com',
  });
  assert.deepEqual(credentialsFromSecret({}, URL), { kind: 'anonymous' });
});

test('knows the user name that a forge wants beside a token', () => {
  for (const [url, username] of [
    ['https://github.com/o/r', 'x-access-token'],
    ['https://gitlab.com/o/r', 'oauth2'],
    ['https://bitbucket.org/o/r', 'x-token-auth'],
    [URL, 'git'],
  ]) {
    assert.deepEqual(credentialsFromSecret({ password: 'p\n' }, url ?? ''), { kind: 'basic', username, password: 'p' });
  }
});

test('says which key is missing, and shows no value', () => {
  const cases: [Record<string, string>, string, RegExp][] = [
    [{ username: 'canary' }, URL, /no `password`/],
    [{ identity: 'canary' }, URL, /`identity`.*URL is for HTTPS/],
    [{ username: 'u', password: 'canary\nX-Evil: 1' }, URL, /`password` of several lines/],
    [{ githubAppID: '1', githubAppPrivateKey: 'canary' }, URL, /`githubAppInstallationID`/],
    [{ githubAppID: '1', githubAppInstallationID: '../canary', githubAppPrivateKey: 'x' }, URL, /no number/],
    [{ known_hosts: 'canary' }, 'git@git.example.com:a', /no `identity`/],
    [{ identity: 'canary' }, 'git@git.example.com:a', /no `known_hosts`/],
  ];
  for (const [data, url, message] of cases) {
    assert.throws(
      () => credentialsFromSecret(data, url),
      (error) => {
        assert.ok(isError(error, 'GitAuthFailed', 'GitHostUnknown'));
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /canary/);
        return !error.retry;
      },
    );
  }
});

test('is not fooled by what every object has', () => {
  assert.deepEqual(credentialsFromSecret(JSON.parse('{"__proto__": {"password": "p"}, "constructor": "x"}'), URL), {
    kind: 'anonymous',
  });
});
