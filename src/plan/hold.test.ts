import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type HoldInput, holdEmpty, holdRemovals, isApproved } from './hold.ts';

const COMMIT = 'a'.repeat(40);
const approval = (approved?: string) => ({ commit: COMMIT, approved, sync: { namespace: 'sys', name: 'platform' } });
const input = (over: Partial<HoldInput> = {}): HoldInput => ({
  what: 'plugins',
  remove: 1,
  owned: 10,
  limits: { percent: 50, count: 20 },
  history: 'forward',
  approval: approval(),
  ...over,
});

describe('law 6: removals', () => {
  for (const [situation, over, reason] of [
    ['few of many go on', {}, undefined],
    ['exactly the share goes on', { remove: 5 }, undefined],
    ['more than the share wait (D7)', { remove: 6 }, '6 of 10 plugins would be removed: more than 50 %'],
    ['exactly the number go on', { remove: 20, owned: 1000 }, undefined],
    ['more than the number wait', { remove: 21, owned: 1000 }, '21 of 1000 plugins would be removed: more than 20'],
    ['none are never held', { remove: 0, history: 'rewritten' }, undefined],
    [
      'of a first commit count like others',
      { remove: 9, history: 'first' },
      '9 of 10 plugins would be removed: more than 50 %',
    ],
    [
      'wait after history was rewritten, however few',
      { history: 'rewritten' },
      '1 of 10 plugins would be removed, and the branch was rewritten: the applied commit is not among its ancestors',
    ],
    [
      'wait when nobody can tell whether it was',
      { history: 'unknown' },
      "1 of 10 plugins would be removed, and it can't be told whether the branch was rewritten",
    ],
  ] satisfies [string, Partial<HoldInput>, string | undefined][]) {
    it(situation, () => {
      const hold = holdRemovals(input(over));
      const howToApprove = `espalier approve platform -n sys --commit ${COMMIT}`;
      assert.deepEqual(hold, reason === undefined ? { held: false } : { held: true, reason, howToApprove });
    });
  }

  it('go on when their very commit is approved', () => {
    assert.deepEqual(holdRemovals(input({ remove: 9, approval: approval(COMMIT) })), { held: false });
    assert.deepEqual(holdRemovals(input({ remove: 9, approval: approval(`${'b'.repeat(40)}, ${COMMIT}`) })), {
      held: false,
    });
  });

  it('stay held when another commit, or the beginning of this one, is approved', () => {
    for (const approved of ['b'.repeat(40), COMMIT.slice(0, 12), '', 'true', undefined]) {
      assert.equal(holdRemovals(input({ remove: 9, approval: approval(approved) })).held, true);
    }
  });

  it('of everything are held at any share below all', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1, max: 1000 }), (percent, owned) => {
        assert.equal(holdRemovals(input({ remove: owned, owned, limits: { percent, count: 5000 } })).held, true);
      }),
    );
  });
});

describe('a plugin that renders nothing', () => {
  const empty = { owned: 3, rendered: 0, allowEmpty: false, approval: approval() };

  it('is held, and says how to consent (D1)', () => {
    assert.deepEqual(holdEmpty(empty), {
      held: true,
      reason: 'it renders no object any more; 3 objects would be removed',
      howToApprove: `If that is meant, set spec.allowEmpty: true, or run: espalier approve platform -n sys --commit ${COMMIT}`,
    });
  });

  it('goes on with consent, or when there is nothing to remove', () => {
    assert.equal(holdEmpty({ ...empty, allowEmpty: true }).held, false);
    assert.equal(holdEmpty({ ...empty, approval: approval(COMMIT) }).held, false);
    assert.equal(holdEmpty({ ...empty, owned: 0 }).held, false);
    assert.equal(holdEmpty({ ...empty, rendered: 1 }).held, false);
  });
});

it('no commit is approved by an empty annotation', () => {
  assert.equal(isApproved({ ...approval(''), commit: '' }), false);
});
