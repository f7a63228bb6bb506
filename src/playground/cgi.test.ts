import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { parseCgiHead, readCgiHead } from './cgi.ts';

test('the head is read whatever the chunks, and the body is left whole', async () => {
  const answer = 'Status: 404 Not Found\r\nContent-Type: text/plain\r\n\r\nfirst\r\n\r\nsecond';
  for (const size of [1, 7, 1000]) {
    const chunks = answer.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    const stream = Readable.from(
      chunks.map((chunk) => Buffer.from(chunk)),
      { objectMode: false },
    );
    assert.deepEqual(await readCgiHead(stream), { status: 404, headers: { 'content-type': 'text/plain' } });
    assert.equal(await text(stream), 'first\r\n\r\nsecond');
  }
});

test('a stream that ends before its head is no answer', async () => {
  assert.equal(await readCgiHead(Readable.from([Buffer.from('Status: 200')], { objectMode: false })), undefined);
  assert.equal(await readCgiHead(new PassThrough().end()), undefined);
});

test('a head without an end is given up', async () => {
  assert.equal(await readCgiHead(Readable.from([Buffer.alloc(20_000, 'x')], { objectMode: false })), undefined);
});

test('without a status line the answer is a success', () => {
  assert.deepEqual(parseCgiHead('Expires: x:y'), { status: 200, headers: { expires: 'x:y' } });
});
