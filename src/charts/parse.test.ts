import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dearmor } from './dearmor.ts';
import { parseChallenge } from './oci-auth.ts';
import { parseOci, parsePlace } from './place.ts';
import { proxyFrom } from './proxy.ts';
import { startsWithPlace } from './sources.ts';

test('reads what a registry asks for', () => {
  assert.deepEqual(parseChallenge('Bearer realm="https://a/token",service="r",scope="repository:x:pull,push"'), {
    scheme: 'bearer',
    parameters: { realm: 'https://a/token', service: 'r', scope: 'repository:x:pull,push' },
  });
  assert.deepEqual(parseChallenge('basic realm="a \\"b\\""'), { scheme: 'basic', parameters: { realm: 'a "b"' } });
  assert.equal(parseChallenge('Negotiate'), undefined);
});

test('an armored key is what lies between its lines, with and without headers', () => {
  const armored = (headers: string): string =>
    `-----BEGIN PGP PUBLIC KEY BLOCK-----\n${headers}\nAQID\nBAU=\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----\n`;
  const bytes = Buffer.from([1, 2, 3, 4, 5]);
  assert.deepEqual(dearmor([armored('')]), bytes);
  assert.deepEqual(
    dearmor([`words ${armored('Version: 1\nComment: x\n')}`, armored('')]),
    Buffer.concat([bytes, bytes]),
  );
  assert.throws(() => dearmor(['AQID']), { code: 'ChartRefused' });
  assert.throws(() => dearmor([]), { code: 'ChartRefused' });
});

test('where http may be spoken: to hosts that are named, and to this machine where that is allowed', () => {
  const closed = { addresses: {}, plainHttp: ['reg.internal:5000', 'old.internal'] };
  const loopback = { addresses: { addresses: ['127.0.0.0/8'] }, plainHttp: [] };
  assert.equal(parseOci('oci://reg.internal:5000/a', closed, false).origin, 'http://reg.internal:5000');
  assert.equal(parseOci('oci://reg.internal/a', closed, false).origin, 'https://reg.internal');
  assert.equal(parseOci('oci://127.0.0.1:5000/a', loopback, false).origin, 'http://127.0.0.1:5000');
  assert.equal(parseOci('oci://127.0.0.1:5000/a', loopback, true).origin, 'https://127.0.0.1:5000');
  assert.equal(parseOci('oci://127.0.0.1:5000/a', closed, false).origin, 'https://127.0.0.1:5000');
  assert.equal(parseOci('oci://docker.io/library/a', closed, false).host, 'registry-1.docker.io');
  assert.equal(parsePlace('http://old.internal/x', closed).protocol, 'http:');
  for (const url of [
    'http://x.example.com',
    'ftp://x',
    'file:///etc',
    'https://u:p@x',
    'https://a b',
    '',
    'x',
    'https://x\\y',
  ]) {
    assert.throws(() => parsePlace(url, closed), { code: 'ChartRefused' }, url);
  }
  assert.throws(
    () => parsePlace('https://b.example.com', { addresses: { hosts: ['*.example.org'] }, plainHttp: [] }),
    /not among those allowed/,
  );
  assert.throws(
    () => parsePlace('https://u:hidden-1@x', closed),
    (error) => !String(error).includes('hidden-1'),
  );
});

test('a place allows what is below it, and nothing that only begins alike', () => {
  const allowed = (place: string): boolean => startsWithPlace(place, 'https://charts.example.com/a/');
  assert.ok(allowed('https://charts.example.com/a'));
  assert.ok(allowed('https://charts.example.com/a/b'));
  for (const place of [
    'https://charts.example.com/ab',
    'https://charts.example.com',
    'https://charts.example.com/a/../b',
    'https://charts.example.com/a/%2e%2e/b',
  ]) {
    assert.ok(!allowed(place), place);
  }
});

test('the proxy of the environment is for others than this machine', () => {
  const env = { HTTPS_PROXY: 'proxy:3128', NO_PROXY: 'a.example.com, *.internal' };
  assert.deepEqual(proxyFrom(env, new URL('https://x')), {
    url: 'http://proxy:3128',
    noProxy: ['a.example.com', '.internal'],
  });
  assert.equal(proxyFrom(env, new URL('https://127.0.0.1')), undefined);
  assert.equal(proxyFrom(env, new URL('http://x')), undefined);
  assert.equal(proxyFrom({}, new URL('https://x')), undefined);
});
