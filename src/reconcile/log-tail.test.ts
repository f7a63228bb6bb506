import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ASKED_BYTES, tailOf } from './log-tail.ts';

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`);

test('the last lines of a log are kept, and no more bytes than a status may hold', () => {
  assert.deepEqual(tailOf(`${lines(30).join('\n')}\n`, []), lines(30).slice(10));
  assert.deepEqual(tailOf('', []), []);
  const long = tailOf(`${'a'.repeat(3000)}\n${'ä'.repeat(1500)} the end\n`, []);
  assert.equal(long.length, 1);
  assert.match(long[0] ?? '', /^…ä+ the end$/);
  assert.ok(Buffer.byteLength(long.join('\n')) < 2_100);
});

test('secrets are hidden in all their forms, also across lines, and tokens of service accounts', () => {
  const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n-----END KEY-----';
  const log = `password=hunter2 aHVudGVyMg==\nMIIEvQIBADANBgkqhkiG\n${key}\ntoken eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWIifQ.c2lnbmF0dXJl\n`;
  assert.deepEqual(tailOf(log, ['hunter2', key]), [
    'password=[redacted] [redacted]',
    '[redacted]',
    '[redacted]',
    'token [redacted]',
  ]);
});

test('a line that was cut off is left out: half of a secret would not be known', () => {
  const log = `first\n${'x'.repeat(ASKED_BYTES)}`.slice(0, ASKED_BYTES);
  assert.deepEqual(tailOf(log, []), ['first']);
});

test('nothing of a log can drive a terminal', () => {
  assert.deepEqual(tailOf('\u001b[31mred\u001b[0m\r\nnext\u202e\n', []), ['\\u001b[31mred\\u001b[0m', 'next\\u202e']);
});
