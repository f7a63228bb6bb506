import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveCommit } from './held.ts';

const HELD = `7a2ad27f44${'0'.repeat(30)}`;
const WHO = { name: 'sync/platform', namespace: 'one' };
const OTHER = `7a2bbbbbbb${'0'.repeat(30)}`;

test('the beginning of a commit stands for it, in either case', () => {
  assert.equal(resolveCommit('7A2AD', [HELD, OTHER], WHO), HELD);
  assert.equal(resolveCommit(OTHER, [HELD, OTHER], WHO), OTHER);
});

for (const [given, commits, message] of [
  ['7a2a', [], /has not seen any commit yet/],
  ['7a2', [HELD], /at least 4 digits/],
  ['main', [HELD], /"main" is no commit/],
  ['7a2ad27f45', [HELD, OTHER], /knows no commit 7a2ad27f45: what can be approved is 7a2ad27f44 and 7a2bbbbbbb/],
  [`${HELD}0`, [HELD], /knows no commit/],
  ['7a2a', [HELD, HELD.replace('27', '28')], /is the beginning of .* and .*: give more digits/],
] satisfies [string, string[], RegExp][]) {
  test(`"${given}" is refused where there ${commits.length === 1 ? 'is' : 'are'} ${commits.length} to approve`, () => {
    assert.throws(() => resolveCommit(given, commits, WHO), message);
  });
}
