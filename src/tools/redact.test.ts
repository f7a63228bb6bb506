import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactor, secretsInUrls } from './redact.ts';

const SECRET = 'p@ss/wörd "x"+ÿ>?';

test('a secret is hidden wherever it stands, and the text around it stays', () => {
  assert.equal(redactor(['hunter2'])('user hunter2, again: hunter2!'), 'user [redacted], again: [redacted]!');
});

test('without secrets, or with empty ones, a text stays as it is', () => {
  assert.equal(redactor([])('text'), 'text');
  assert.equal(redactor(['', '\n'])('text'), 'text');
});

for (let offset = 0; offset < 6; offset++) {
  test(`a secret is hidden in base64 after ${offset} bytes of something else`, () => {
    for (const encoding of ['base64', 'base64url'] as const) {
      const encoded = Buffer.from(`${'a'.repeat(offset)}${SECRET}bcd`).toString(encoding);
      const shown = redactor([SECRET])(`data: ${encoded};`);
      assert.match(shown, /^data: \w{0,8}\[redacted\]\w{0,8}={0,2};$/);
      const left = Buffer.from(shown.replace(/^data: /, '').split('[redacted]')[0] ?? '', encoding).toString();
      assert.ok('a'.repeat(offset).startsWith(left), `"${left}" is more than what stood before the secret`);
    }
  });
}

test('a secret is hidden URL-encoded in capitals, small letters, and where only some characters are encoded', () => {
  const hide = redactor([SECRET]);
  const whole = encodeURIComponent(SECRET);
  assert.equal(hide(`https://u:${whole}@host`), 'https://u:[redacted]@host');
  assert.equal(hide(`x${whole.toLowerCase()}x`), 'x[redacted]x');
  assert.equal(hide('p@ss%2Fw%c3%B6rd+"x"%2B%C3%BF>?'), '[redacted]');
});

test('a user and password of a URL are hidden as written in it', () => {
  assert.equal(
    redactor(['tok@'])('cannot clone https://u:tok%40@git.test/x'),
    'cannot clone https://u:[redacted]@git.test/x',
  );
});

test('a secret is hidden in JSON, in JSON within JSON, and as Go writes it with \\u003e', () => {
  const hide = redactor([SECRET]);
  assert.equal(hide(JSON.stringify({ a: SECRET })), '{"a":"[redacted]"}');
  assert.equal(hide(JSON.stringify({ a: JSON.stringify(SECRET) })), '{"a":"\\"[redacted]\\""}');
  assert.equal(hide(JSON.stringify(SECRET).replace('>', '\\u003e')), '"[redacted]"');
});

test('of a key of many lines each line is hidden by itself, also indented', () => {
  const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----\n';
  const hide = redactor([key]);
  assert.equal(hide('line 2: hkiG9w0BAQEFAASC.'), 'line 2: [redacted].');
  assert.doesNotMatch(hide(`key: |\n${key.replace(/^/gm, '    ')}`), /MIIE|hkiG/);
});

test('the longer of two secrets goes first, so that none of it is left', () => {
  assert.equal(redactor(['abc', 'abcdef'])('abcdef'), '[redacted]');
});

test('a text of a megabyte takes time in proportion to its length', () => {
  const hide = redactor([SECRET, 'another secret', 'k'.repeat(4096)]);
  const cpuOf = (text: string): number => {
    const before = process.cpuUsage();
    hide(text);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const piece = 'QUJD/+=%41\\"x y'.repeat(14_000);
  cpuOf(piece);
  const [one, five] = [cpuOf(piece), cpuOf(piece.repeat(5))];
  // Five times the text may take five times as long; were it quadratic, it would be twenty-five.
  assert.ok(five < 15 * Math.max(one, 5_000), `${one} µs, then ${five} µs`);
});

test('passwords are found in the URLs of an environment', () => {
  const env = { GOPROXY: 'https://u:s3%40x@proxy.test,direct', HTTPS_PROXY: 'http://token@p.test:3128', PATH: '/bin' };
  assert.deepEqual(secretsInUrls(env), ['s3@x', 'token']);
});
