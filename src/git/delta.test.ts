import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isError } from '../api/index.ts';
import { applyDelta } from './delta.ts';

type Step = { copy: [start: number, length: number] } | { insert: Uint8Array };

test('makes what the steps of a delta say, whatever they are', () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 100 });
  const step = fc.oneof(
    fc.record({ copy: fc.tuple(fc.nat(199_999), fc.integer({ min: 1, max: 0x12000 })) }),
    fc.record({ insert: bytes }),
  );
  const base = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 31) & 255));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      const expected = Buffer.concat(
        steps.map((each) => ('copy' in each ? base.subarray(each.copy[0], each.copy[0] + each.copy[1]) : each.insert)),
      );
      assert.deepEqual(applyDelta(base, encode(base.length, expected.length, steps), 10_000_000), expected);
    }),
    { numRuns: 60 },
  );
});

test('refuses a delta that leads outside, ends early or grows too large, before it takes memory', () => {
  const base = Buffer.from('0123456789');
  const refused: [Buffer, number][] = [
    [encode(9, 1, [{ copy: [0, 1] }]), 100],
    [encode(10, 5, [{ copy: [8, 5] }]), 100],
    [encode(10, 5, [{ copy: [0, 4] }]), 100],
    [encode(10, 3, [{ copy: [0, 4] }]), 100],
    [encode(10, 2 ** 40, [{ copy: [0, 4] }]), 100],
    [encode(10, 101, []), 100],
    [Buffer.concat([encode(10, 4, []), Buffer.from([0])]), 100],
    [Buffer.concat([encode(10, 4, []), Buffer.from([4, 1])]), 100],
    [Buffer.from([0x80]), 100],
    [Buffer.alloc(0), 100],
  ];
  for (const [delta, limit] of refused)
    assert.throws(() => applyDelta(base, delta, limit), { code: 'GitStoreDamaged' });
});

test('ends in an error of ours for any bytes at all', () => {
  const base = Buffer.from('0123456789');
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      try {
        assert.ok(applyDelta(base, Buffer.from([10, ...bytes]), 1000).length <= 1000);
      } catch (error) {
        assert.ok(isError(error, 'GitStoreDamaged'));
      }
    }),
  );
});

function encode(baseSize: number, size: number, steps: Step[]): Buffer {
  const out = [...varint(baseSize), ...varint(size)];
  for (const each of steps) {
    if ('insert' in each) {
      out.push(each.insert.length, ...each.insert);
      continue;
    }
    const [start, length] = each.copy;
    const parts = [
      start & 255,
      (start >> 8) & 255,
      (start >> 16) & 255,
      0,
      length & 255,
      (length >> 8) & 255,
      (length >> 16) & 255,
    ];
    out.push(
      parts.reduce((op, part, i) => (part === 0 ? op : op | (1 << i)), 0x80),
      ...parts.filter((part) => part !== 0),
    );
  }
  return Buffer.from(out);
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}
