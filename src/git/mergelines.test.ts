import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { mergeLines } from './mergelines.ts';

function merge(ancestor: string, ours: string, theirs: string): string | undefined {
  return mergeLines(Buffer.from(ancestor), Buffer.from(ours), Buffer.from(theirs))?.toString();
}

const texts = fc
  .tuple(
    fc.array(
      fc.nat(6).map((n) => `${n}\n`),
      { maxLength: 20 },
    ),
    fc.constantFrom('', 'end'),
  )
  .map(([lines, end]) => lines.join('') + end);

describe('two versions of a text', () => {
  test('are joined where their changes lie apart', () => {
    assert.equal(merge('a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nC\n'), 'A\nb\nC\n');
    assert.equal(merge('a\nb\nc\n', 'a\nb\nc\nd\n', 'b\nc\n'), 'b\nc\nd\n');
  });

  test('are in conflict where their changes overlap or touch', () => {
    assert.equal(merge('a\nb\nc\n', 'a\nB\nc\n', 'a\nX\nc\n'), undefined);
    assert.equal(merge('a\nb\nc\n', 'A\nb\nc\n', 'a\nB\nc\n'), undefined);
    assert.equal(merge('a\n', 'a\nx\n', 'a\ny\n'), undefined);
  });

  test('may differ in their last line end alone', () => {
    assert.equal(merge('a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nc'), 'A\nb\nc');
    assert.equal(merge('a', 'a\n', 'a\n'), 'a\n');
  });

  test('are in conflict when one of them is binary', () => {
    assert.equal(merge('a\0\nb\nc\n', 'A\0\nb\nc\n', 'a\0\nb\nC\n'), undefined);
  });

  test('may hold lines that name properties of objects, and bytes that are not UTF-8', () => {
    assert.equal(merge('__proto__\nx\nconstructor\n', '__proto__\nx\n', 'toString\nx\nconstructor\n'), 'toString\nx\n');
    const odd = Buffer.from([0xff, 0x0a, 0x62, 0x0a, 0x63, 0x0a]);
    const changed = Buffer.from([0xff, 0x0a, 0x62, 0x0a, 0x64, 0x0a]);
    const above = Buffer.from([0xfe, 0x0a, 0x62, 0x0a, 0x63, 0x0a]);
    assert.deepEqual(mergeLines(odd, changed, above), Buffer.from([0xfe, 0x0a, 0x62, 0x0a, 0x64, 0x0a]));
  });

  test('give the changed one when the other is as it was, and either when both are the same', () => {
    fc.assert(
      fc.property(texts, texts, (ancestor, changed) => {
        assert.equal(merge(ancestor, changed, ancestor), changed);
        assert.equal(merge(ancestor, ancestor, changed), changed);
        assert.equal(merge(ancestor, changed, changed), changed);
      }),
      { numRuns: 500 },
    );
  });

  test('give the same whichever comes first', () => {
    fc.assert(
      fc.property(texts, texts, texts, (ancestor, one, other) => {
        assert.equal(merge(ancestor, one, other), merge(ancestor, other, one));
      }),
      { numRuns: 500 },
    );
  });

  test('that were made to take for ever are given up as a conflict', () => {
    // Each line that stays is a landmark of its own: it is found and looked around once for each of them.
    const lines = (changed: string): string =>
      Array.from({ length: 20_000 }, (_, i) => `${i}\n${changed}${i}\n`).join('');
    const [ancestor, ours] = [`${lines('x')}a\nb\nc\n`, `${lines('y')}a\nb\nc\n`];
    const theirs = ancestor.replace(/c\n$/, 'C\n');
    const few = (text: string): string => text.split('\n').slice(-50).join('\n');
    assert.equal(merge(few(ancestor), few(ours), few(theirs)), few(ours).replace(/c\n$/, 'C\n'));
    const started = performance.now();
    assert.equal(merge(ancestor, ours, theirs), undefined);
    assert.ok(performance.now() - started < 20_000);
  });
});
