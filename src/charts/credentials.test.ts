import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { chartCredentials } from './credentials.ts';

const HOST = 'registry.example.com:5000';
const config = (auths: object): Record<string, string> => ({ '.dockerconfigjson': JSON.stringify({ auths }) });
const auth = Buffer.from('ada:pa:ss').toString('base64');

const read: [title: string, data: Record<string, string>, expected: object][] = [
  ['nothing', {}, {}],
  [
    'a user name and a password, as editors save them',
    { username: 'ada', password: 'x\n' },
    { username: 'ada', password: 'x' },
  ],
  ['a token', { bearerToken: 't' }, { bearerToken: 't' }],
  ['an authority', { 'ca.crt': 'PEM' }, { ca: 'PEM' }],
  ['a certificate of ours', { 'tls.crt': 'C', 'tls.key': 'K' }, { clientCert: 'C', clientKey: 'K' }],
  [
    'the old names of files',
    { caFile: 'A', certFile: 'C', keyFile: 'K' },
    { ca: 'A', clientCert: 'C', clientKey: 'K' },
  ],
  ['a login of docker', config({ [HOST]: { username: 'ada', password: 'x' } }), { username: 'ada', password: 'x' }],
  [
    'a login of docker with a URL',
    config({ [`https://${HOST}/v2/`]: { auth } }),
    { username: 'ada', password: 'pa:ss' },
  ],
  [
    'the login for this host among others',
    config({ 'a.example.com': { auth: 'x' }, [HOST]: { auth } }),
    { username: 'ada', password: 'pa:ss' },
  ],
];
for (const [title, data, expected] of read) {
  test(`takes from a Secret: ${title}`, () => assert.deepEqual(chartCredentials(data, HOST), expected));
}

test('knows Docker Hub by all of its names', () => {
  assert.deepEqual(chartCredentials(config({ 'https://index.docker.io/v1/': { auth } }), 'registry-1.docker.io'), {
    username: 'ada',
    password: 'pa:ss',
  });
});

const refused: [title: string, data: Record<string, string>, message: RegExp][] = [
  ['a user without a password', { username: 'ada' }, /`username` but no `password`/],
  ['a password without a user', { password: 'hidden-1' }, /`password` but no `username`/],
  ['a certificate without its key', { 'tls.crt': 'x' }, /`tls\.crt` but no `tls\.key`/],
  ['a password of two lines', { username: 'a', password: 'hidden-1\nx' }, /`password` of several lines/],
  [
    'a login for another host',
    config({ 'registry.example.com': { auth } }),
    /without an entry for registry\.example\.com:5000/,
  ],
  ['a login of docker that is no JSON', { '.dockerconfigjson': 'hidden-1' }, /not JSON/],
  [
    'a login of docker with a token only',
    config({ [HOST]: { identitytoken: 'hidden-1' } }),
    /identitytoken is not supported/,
  ],
];
for (const [title, data, message] of refused) {
  test(`refuses a Secret with ${title}, and shows nothing of it`, () => {
    assert.throws(
      () => chartCredentials(data, HOST),
      (error) => {
        assert.match(String(error), message);
        assert.ok(!inspect(error, { depth: 9 }).includes('hidden-1'));
        return true;
      },
    );
  });
}
