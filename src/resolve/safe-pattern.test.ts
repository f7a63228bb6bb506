import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { safePattern } from './safe-pattern.ts';

function matches(pattern: string, text: string): boolean {
  const made = safePattern(pattern);
  assert.ok(made.ok, `${pattern} is refused`);
  return made.matches(text);
}

describe('a pattern out of a repository', () => {
  for (const [pattern, right, wrong] of [
    ['^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$', 'web-1', 'Web'],
    ['^(foo|bar)$', 'bar', 'foobar'],
    ['^\\d+(Gi|Mi)$', '10Gi', '10'],
    ['^https?://[^/]+/.*$', 'https://a/b', 'ftp://a/b'],
    ['^(?:[0-9]{1,3}\\.){3}[0-9]{1,3}$', '10.0.0.1', '10.0.0'],
    ['[|(]', '(', 'a'],
  ] as const) {
    test(`${pattern} is used as it is`, () => {
      assert.equal(matches(pattern, right), true);
      assert.equal(matches(pattern, wrong), false);
    });
  }

  for (const [pattern, why] of [
    ['^(a+)+$', /repeats a group/],
    ['^(a|a)*$', /repeats a group/],
    ['^((a*)b?)*$', /repeats a group/],
    ['^(a*){50}$', /repeats a group/],
    ['^(a)\\1$', /refers back/],
    ['^(?=a)b$', /looks ahead/],
    ['(?<!a)b', /looks ahead/],
    ['a*a*a*a*b', /more than 3/],
    ['(', /not closed/],
    ['[a', /not closed/],
    [`${'a'.repeat(600)}`, /longer than/],
  ] as const) {
    test(`${pattern.slice(0, 30)} is refused`, () => {
      const made = safePattern(pattern);
      assert.ok(!made.ok);
      assert.match(made.why, why);
    });
  }

  test('what is let through ends within a moment, and longer texts are not tried at all', () => {
    const started = process.cpuUsage();
    assert.equal(matches('^a*a*a*b$', 'a'.repeat(500)), false);
    assert.ok(process.cpuUsage(started).user < 2_000_000);
    assert.equal(matches('^a*$', 'a'.repeat(1000)), false);
  });
});
