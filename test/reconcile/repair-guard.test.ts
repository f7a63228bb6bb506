import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RepairGuard } from '../../src/reconcile/repair-guard.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const START = Date.parse('2026-11-18T09:00:00Z');

/** Repairs as often as it may while a rival writes back at once; returns when the repairs were, in seconds from the start. */
function fight(guard: RepairGuard, from: number, until: number): number[] {
  const repairs: number[] = [];
  for (let now = from; now < until; now += SECOND) {
    if (guard.restsUntil('a', now) !== undefined) continue;
    guard.repaired('a', now);
    repairs.push((now - START) / SECOND);
  }
  return repairs;
}

describe('repairs of one object', () => {
  test('rest after the fifth within five minutes; each try after that rests twice as long', () => {
    const repairs = fight(new RepairGuard(), START, START + 20 * MINUTE);
    assert.deepEqual(repairs, [0, 1, 2, 3, 4, 64, 184, 424, 904]);
  });

  test('never rest longer than an hour', () => {
    const repairs = fight(new RepairGuard(), START, START + 24 * 60 * MINUTE);
    const pauses = repairs.slice(1).map((at, index) => at - (repairs[index] ?? 0));
    assert.equal(Math.max(...pauses), 3_600);
  });

  test('do not rest when somebody edits now and then', () => {
    const guard = new RepairGuard();
    for (let now = START; now < START + 120 * MINUTE; now += 2 * MINUTE) {
      assert.equal(guard.restsUntil('a', now), undefined);
      guard.repaired('a', now);
    }
  });

  test('are as quick as ever again once a fight is over', () => {
    const guard = new RepairGuard();
    fight(guard, START, START + 2 * MINUTE);
    const later = START + 60 * MINUTE;
    assert.equal(guard.restsUntil('a', later), undefined);
    assert.deepEqual(fight(guard, later, later + 5 * SECOND), [3600, 3601, 3602, 3603, 3604]);
  });

  test('of one object say nothing about another', () => {
    const guard = new RepairGuard();
    fight(guard, START, START + 10 * SECOND);
    assert.equal(guard.restsUntil('b', START + 10 * SECOND), undefined);
  });
});
