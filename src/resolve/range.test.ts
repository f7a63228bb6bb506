import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pickVersion } from './pick-version.ts';
import { parseRange, rangeFault } from './range.ts';

function includes(range: string, version: string): boolean {
  const parsed = parseRange(range);
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.message);
  return parsed.range.includes(version);
}

describe('a version range', () => {
  const cases: [range: string, inside: string[], outside: string[]][] = [
    ['1.2.3', ['1.2.3', 'v1.2.3', '1.2.3+build'], ['1.2.4']],
    ['1.2', ['1.2.0', '1.2.9'], ['1.3.0']],
    ['1.x', ['1.0.0', '1.9.9'], ['2.0.0']],
    ['*', ['0.0.1', '9.9.9'], ['1.0.0-rc.1']],
    ['~1.18', ['1.18.0', '1.18.7'], ['1.19.0', '1.17.9']],
    ['^1.18', ['1.18.0', '1.40.0'], ['2.0.0']],
    ['>=1.29 <1.32', ['1.29.0', '1.31.9'], ['1.32.0', '1.28.9']],
    ['>= 1.29, < 1.32', ['1.29.0', '1.31.9'], ['1.32.0']],
    ['>=1.29,<1.32', ['1.30.0'], ['1.32.0']],
    ['=>1.29 =<1.31', ['1.29.0', '1.31.5'], ['1.32.0']],
    ['1.29 - 1.31', ['1.29.0', '1.31.9'], ['1.32.0']],
    ['1.x || >=3', ['1.5.0', '3.0.0'], ['2.0.0']],
    ['!=1.30', ['1.29.9', '1.31.0'], ['1.30.0', '1.30.4']],
    ['>=1.29, !=1.30.2', ['1.30.1', '1.30.3'], ['1.30.2', '1.28.0']],
    ['>=1.29-0', ['1.29.0', '1.29.0-rc.1', '1.30.0-alpha.1'], ['1.28.9']],
    ['>=1.29', ['1.29.0'], ['1.30.0-alpha.1']],
    ['>1.2', ['1.3.0'], ['1.2.9']],
    ['<=1.2', ['1.2.9'], ['1.3.0']],
  ];
  for (const [range, inside, outside] of cases) {
    test(`${range} includes ${inside.join(', ')} but not ${outside.join(', ')}`, () => {
      for (const version of inside) assert.ok(includes(range, version), version);
      for (const version of outside) assert.ok(!includes(range, version), version);
    });
  }

  for (const text of [
    '',
    '  ',
    'latest',
    '>=',
    '1.2.3.4',
    '1 ||',
    '>=1.2 <x.y',
    '^^1',
    '1.2 || latest',
    '1'.repeat(300),
  ]) {
    test(`${JSON.stringify(text.slice(0, 20))} is refused with an example of what is right`, () => {
      assert.match(rangeFault(text) ?? '', /is not a version range: .*Write for example/);
    });
  }

  test('what is no version is in no range', () => {
    for (const version of ['', 'latest', '1', '1.2', 'v1.2.x']) assert.equal(includes('*', version), false, version);
  });
});

describe('picking a version', () => {
  const available = ['1.0.0', 'v1.18.2', '1.18.10', '1.19.0-rc.1', 'latest', '2.0.0_build.1', 'sha256-abc'];
  const cases: [range: string, picked: string][] = [
    ['~1.18', '1.18.10'],
    ['<1.18.5', 'v1.18.2'],
    ['*', '2.0.0_build.1'],
    ['>=1.19-0 <2', '1.19.0-rc.1'],
    ['latest', 'latest'],
  ];
  for (const [range, picked] of cases) {
    test(`${range} picks ${picked}, as the source spells it`, () => {
      assert.deepEqual(pickVersion(available, range), { ok: true, version: picked });
    });
  }

  test('nothing in the range names the newest that there are', () => {
    const picked = pickVersion(available, '>=3');
    assert.ok(!picked.ok);
    assert.match(picked.message, /No version is in ">=3"\. The newest that the source offers: 2\.0\.0/);
  });

  test('no tag that is a version says so, and so does an empty source', () => {
    assert.match(JSON.stringify(pickVersion(['main'], '*')), /None of the 1 tags/);
    assert.match(JSON.stringify(pickVersion([], '*')), /no version at all/);
  });
});
