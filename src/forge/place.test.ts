import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isError } from '../api/index.ts';
import { type ForgeKind, placeOf } from './place.ts';

function place(kind: ForgeKind, repositoryUrl: string, url?: string): [string, string] {
  const found = placeOf({ kind, repositoryUrl, url, policy: {} });
  return [found.api, found.path.join('/')];
}

test('finds the API of a hosted forge, however the repository is cloned', () => {
  for (const url of [
    'https://github.com/acme/platform.git',
    'https://github.com/acme/platform/',
    'git@github.com:acme/platform.git',
    'ssh://git@github.com/acme/platform.git',
  ]) {
    assert.deepEqual(place('github', url), ['https://api.github.com', 'acme/platform'], url);
  }
  assert.deepEqual(place('gitlab', 'git@gitlab.com:acme/team/x/platform.git'), [
    'https://gitlab.com/api/v4',
    'acme/team/x/platform',
  ]);
  assert.deepEqual(place('bitbucket', 'git@bitbucket.org:acme/platform.git'), [
    'https://api.bitbucket.org/2.0',
    'acme/platform',
  ]);
});

test('finds the API of a forge of one own, at another port, below a path or at another host', () => {
  assert.deepEqual(place('github', 'https://git.example.com/acme/platform'), [
    'https://git.example.com/api/v3',
    'acme/platform',
  ]);
  assert.deepEqual(place('github', 'git@git.example.com:acme/platform', 'https://git.example.com/api/v3'), [
    'https://git.example.com/api/v3',
    'acme/platform',
  ]);
  assert.deepEqual(place('gitea', 'https://git.example.com:3000/acme/platform.git'), [
    'https://git.example.com:3000/api/v1',
    'acme/platform',
  ]);
  assert.deepEqual(place('forgejo', 'ssh://git@git.example.com:2222/acme/platform.git'), [
    'https://git.example.com/api/v1',
    'acme/platform',
  ]);
  assert.deepEqual(place('gitlab', 'https://example.com/gitlab/acme/platform.git', 'https://example.com/gitlab/'), [
    'https://example.com/gitlab/api/v4',
    'acme/platform',
  ]);
  assert.deepEqual(place('gitea', 'git@ssh.example.com:acme/platform.git', 'https://git.example.com/'), [
    'https://git.example.com/api/v1',
    'acme/platform',
  ]);
});

test('finds a project of Bitbucket Data Center by each way to clone it', () => {
  const wanted = ['https://git.example.com/rest', 'ACME/platform'];
  assert.deepEqual(place('bitbucket', 'https://git.example.com/scm/ACME/platform.git'), wanted);
  assert.deepEqual(place('bitbucket', 'ssh://git@git.example.com:7999/ACME/platform.git'), wanted);
  assert.deepEqual(place('bitbucket', 'https://example.com/bitbucket/scm/~ada/x.git'), [
    'https://example.com/bitbucket/rest',
    '~ada/x',
  ]);
});

test('refuses a path that names no repository, or another call of the API', () => {
  for (const url of [
    'https://github.com/acme',
    'https://github.com/acme/team/platform',
    'git@github.com:acme/..',
    'https://github.com/acme/a%2fb',
  ]) {
    assert.throws(
      () => place('github', url),
      (error) => isError(error, 'ForgeRefused'),
      url,
    );
  }
});

test('refuses an address with credentials, of plain http, or of a host that is not allowed', () => {
  const repositoryUrl = 'https://git.example.com/acme/platform';
  for (const url of [
    'http://git.example.com',
    'https://u:p@git.example.com',
    'ftp://git.example.com',
    'git.example.com',
  ]) {
    assert.throws(() => placeOf({ kind: 'gitea', repositoryUrl, url, policy: {} }), isError);
  }
  const policy = { hosts: ['git.example.com'] };
  assert.throws(() => placeOf({ kind: 'gitea', repositoryUrl, url: 'https://evil.example.com', policy }), isError);
  assert.doesNotThrow(() => placeOf({ kind: 'gitea', repositoryUrl, url: 'https://git.example.com', policy }));
});
