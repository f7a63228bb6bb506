import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { asksFor, type Said } from './approval.ts';

const HEAD = 'abcdef0123456789abcdef0123456789abcdef01';
const said = (body: string, over: Partial<Said> = {}): Said => ({
  author: 'ada',
  body,
  writtenAt: 2_000,
  edited: false,
  ...over,
});
const approves = (one: Said, plannedAt: number | undefined = 1_000): boolean =>
  asksFor('approve', [one], HEAD, plannedAt).length === 1;

describe('an approval by comment', () => {
  test('may name the head, in full or by its beginning', () => {
    assert.ok(approves(said(`/espalier approve ${HEAD}`)));
    assert.ok(approves(said(`Looks good.\n\n  /espalier approve ${HEAD.slice(0, 10)}  \nThanks!`)));
    assert.ok(approves(said(`/Espalier Approve ${HEAD.toUpperCase()}`)));
  });

  test('that names another commit, or too little of one, does not', () => {
    assert.ok(!approves(said(`/espalier approve ${'0'.repeat(40)}`)));
    assert.ok(!approves(said(`/espalier approve ${HEAD.slice(0, 6)}`)));
    assert.ok(!approves(said(`/espalier approve ${HEAD}0`)));
  });

  test('counts only when it was written after the plan was shown, commit or not', () => {
    assert.ok(approves(said('/espalier approve')));
    assert.ok(!approves(said('/espalier approve', { writtenAt: 999 })));
    assert.ok(!approves(said(`/espalier approve ${HEAD}`, { writtenAt: 999 })));
    assert.equal(asksFor('approve', [said('/espalier approve')], HEAD, undefined).length, 0);
  });

  test('that was heard for a plan which has become another must be given again', () => {
    const again = (writtenAt: number): number =>
      asksFor('approve', [said(`/espalier approve ${HEAD}`, { writtenAt })], HEAD, 1_000, 2_000).length;
    assert.deepEqual([again(2_000), again(2_001)], [0, 1]);
  });

  test('must be a line of its own, and as it was written at first', () => {
    assert.ok(!approves(said('I would not /espalier approve this')));
    assert.ok(!approves(said('> /espalier approve')));
    assert.ok(!approves(said('`/espalier approve`')));
    assert.ok(!approves(said('/espalier approve', { edited: true })));
    assert.ok(!approves(said('/espalier plan')));
  });
});

test('a plan of a fork must name the commit: what is pushed a moment later is not meant', () => {
  assert.equal(asksFor('plan', [said('/espalier plan')], HEAD, 1).length, 0);
  assert.equal(asksFor('plan', [said(`/espalier plan ${HEAD.slice(0, 7)}`)], HEAD, undefined).length, 1);
});
