import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLineCutter } from './lines.ts';

function cut(chunks: Uint8Array[], maxBytes = 1_000): string[] {
  const lines: string[] = [];
  const cutter = createLineCutter(maxBytes, (line) => lines.push(line));
  for (const chunk of chunks) cutter.push(chunk);
  return lines;
}

test('lines come out whole, however the bytes are cut', () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''));
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat({ max: 40 })), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(''));
      const chunks: Buffer[] = [];
      let at = 0;
      for (const size of cuts) {
        chunks.push(bytes.subarray(at, at + size));
        at += size;
      }
      chunks.push(bytes.subarray(at));
      assert.deepEqual(
        cut(chunks, 100_000),
        lines.filter((each) => each !== ''),
      );
    }),
  );
});

test('what has no end yet is kept back', () => {
  const cutter = createLineCutter(100, () => assert.fail('no line is complete'));
  cutter.push(Buffer.from('{"type":'));
  assert.equal(cutter.pending, 8);
});

test('a line beyond the bound is an error, not memory', () => {
  assert.throws(() => cut([Buffer.alloc(600, 'a'), Buffer.alloc(600, 'a')]), /longer than 1000 bytes/);
});

test('empty lines are left out', () => {
  assert.deepEqual(cut([Buffer.from('\n\na\n\n')]), ['a']);
});
