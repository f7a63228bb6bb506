import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isError } from '../api/index.ts';
import { parseRepositoryUrl } from './url.ts';

test('takes https, ssh and the short form of ssh', () => {
  assert.deepEqual(parseRepositoryUrl('https://Git.Example.com:8443/team/addons.git/'), {
    protocol: 'https',
    host: 'git.example.com',
    port: 8443,
    user: undefined,
    href: 'https://git.example.com:8443/team/addons.git',
    embedded: undefined,
  });
  assert.deepEqual(parseRepositoryUrl('ssh://git@git.example.com:2222/team/addons.git'), {
    protocol: 'ssh',
    host: 'git.example.com',
    port: 2222,
    user: 'git',
    href: 'ssh://git@git.example.com:2222/team/addons.git',
    embedded: undefined,
  });
  const short = parseRepositoryUrl('git@git.example.com:team/addons.git');
  assert.deepEqual(
    [short.protocol, short.host, short.user, short.href],
    ['ssh', 'git.example.com', 'git', 'git@git.example.com:team/addons.git'],
  );
});

test('takes credentials out of a URL', () => {
  const url = parseRepositoryUrl('https://u:tok%40@git.example.com/a.git');
  assert.deepEqual(url.embedded, { username: 'u', password: 'tok@' });
  assert.equal(url.href, 'https://git.example.com/a.git');
  assert.deepEqual(parseRepositoryUrl('https://token@git.example.com/a.git').embedded, {
    username: 'token',
    password: '',
  });
});

test('reads a host as the address that it means', () => {
  for (const host of ['2130706433', '0x7f000001', '0177.0.0.1', '127.1']) {
    assert.equal(parseRepositoryUrl(`https://${host}/a.git`).host, '127.0.0.1', host);
    assert.equal(parseRepositoryUrl(`ssh://git@${host}/a.git`).host, '127.0.0.1', host);
    assert.equal(parseRepositoryUrl(`git@${host}:a.git`).host, '127.0.0.1', host);
  }
  assert.equal(parseRepositoryUrl('https://[::FFFF:127.0.0.1]/a.git').host, '::ffff:7f00:1');
});

test('S7: refuses whatever git would run, read or take for an option', () => {
  const urls = [
    '',
    'ext::sh -c touch% /tmp/x',
    'ext::sh%20-c',
    'fd::17/foo',
    '--upload-pack=touch',
    '-oProxyCommand=x:y',
    'file:///etc',
    '/srv/a.git',
    '../a.git',
    'C:\\repo',
    'git://example.com/a.git',
    'ftp://example.com/a.git',
    'javascript:alert(1)',
    'http://example.com/a.git',
    'https://example.com/',
    'https://example.com//',
    'https:///a.git',
    'https://example.com/a.git?x=1',
    'https://example.com/a.git#x',
    'https://exa mple.com/a.git',
    'https://example.com/a.git\nhost: evil',
    'https://example.com\u0000/a.git',
    'ssh://-oProxyCommand=x@example.com/a.git',
    'ssh://-oProxyCommand=x/a.git',
    'ssh://%2doProxyCommand=x/a.git',
    'ssh://git@example.com:22:33/a.git',
    '-x@example.com:a.git',
    'git@-example.com:a.git',
    'git@example.com:-a.git',
    'git@example.com:',
    'git@example.com::a',
  ];
  for (const url of urls) {
    assert.throws(
      () => parseRepositoryUrl(url),
      (error) => isError(error, 'GitBadUrl') && !error.retry,
      url,
    );
  }
});

test('allows plain http and certain hosts as told', () => {
  assert.equal(parseRepositoryUrl('http://git.internal/a.git', { http: true }).protocol, 'http');
  const hosts = ['git.example.com', '*.corp.example'];
  assert.ok(parseRepositoryUrl('https://GIT.example.com/a', { hosts }));
  assert.ok(parseRepositoryUrl('git@x.corp.example:a', { hosts }));
  for (const url of [
    'https://example.com/a',
    'https://corp.example/a',
    'https://git.example.com.evil/a',
    'https://xcorp.example/a',
  ]) {
    assert.throws(
      () => parseRepositoryUrl(url, { hosts }),
      { code: 'GitBadUrl', message: /not among those allowed/ },
      url,
    );
  }
});

test('S19: names a refused URL without its credentials', () => {
  for (const url of [
    'ftp://u:tok%40@example.com/a',
    'https://u:p/w@example.com',
    'ftp://u:a@b@example.com/x',
    'https://u:secret@exa mple/x',
  ]) {
    assert.throws(
      () => parseRepositoryUrl(url),
      (error) => {
        assert.ok(isError(error, 'GitBadUrl'));
        assert.doesNotMatch(`${error.message} ${JSON.stringify(error.data)}`, /tok|p\/w|a@b|secret/);
        return true;
      },
      url,
    );
  }
});
