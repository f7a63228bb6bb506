import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { fitParts, type Part } from './fit.ts';

const part = (...lengths: [number, ...number[]]): Part => {
  const [first, ...rest] = lengths.map((length) => 'x'.repeat(length));
  return [first ?? '', ...rest];
};
const lengthsOf = (parts: Part[], room: number): number[] => fitParts(parts, room, 0).texts.map(({ length }) => length);

describe('fitting parts into a comment', () => {
  it('leaves everything whole that fits', () => {
    const { texts, isCut, dropped } = fitParts([part(10, 1), part(20, 2)], 30, 0);
    assert.deepEqual([texts.map(({ length }) => length), isCut, dropped], [[10, 20], false, 0]);
  });

  it('shortens the largest first, and no more than it must', () => {
    assert.deepEqual(lengthsOf([part(10, 1), part(100, 40, 4), part(20, 2)], 75), [10, 40, 20]);
    assert.deepEqual(lengthsOf([part(10, 1), part(100, 40, 4), part(20, 2)], 40), [10, 4, 20]);
    assert.deepEqual(lengthsOf([part(10, 1), part(100, 40, 4), part(20, 2)], 20), [10, 4, 2]);
  });

  it('leaves parts out at the end when even the shortest forms do not fit, and counts them', () => {
    const { texts, isCut, dropped } = fitParts([part(10), part(10), part(10)], 25, 2);
    assert.deepEqual([texts.length, isCut, dropped], [2, true, 1]);
  });

  it('never takes more room than there is', () => {
    const parts = fc.array(
      fc.array(fc.nat(200), { minLength: 1, maxLength: 4 }).map((lengths): Part => {
        const [first = 0, ...rest] = lengths.toSorted((a, b) => b - a);
        return part(first, ...rest);
      }),
    );
    fc.assert(
      fc.property(parts, fc.nat(1_000), fc.nat(3), (all, room, gap) => {
        const { texts } = fitParts(all, room, gap);
        assert.ok(texts.reduce((sum, text) => sum + text.length + gap, 0) <= room);
      }),
    );
  });
});
