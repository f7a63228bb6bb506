import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHelmignore } from './helmignore.ts';

/** Verdicts of Helm's own rules, from its tests and documentation. */
const verdicts: [rules: string, path: string, folder: boolean, ignored: boolean][] = [
  ['helm.txt', 'helm.txt', false, true],
  ['helm.txt', 'a/helm.txt', false, true],
  ['helm.*', 'tiller.txt', false, false],
  ['*/rudder.txt', 'cargo/rudder.txt', false, true],
  ['*/rudder.txt', 'rudder.txt', false, false],
  ['cargo/*', 'cargo/a.txt', false, true],
  ['cargo/*', 'mast/a.txt', false, false],
  ['ru[c-e]?er.txt', 'rudder.txt', false, true],
  ['[^a].txt', 'a.txt', false, false],
  ['[^a].txt', 'b.txt', false, true],
  ['*.txt', 'mast/a.txt', false, true],
  ['cargo/', 'cargo', true, true],
  ['cargo/', 'cargo', false, false],
  ['mast/', 'a/mast', true, true],
  ['/a.txt', 'a.txt', false, true],
  ['/a.txt', 'cargo/a.txt', false, false],
  ['!helm.txt', 'helm.txt', false, false],
  ['!helm.txt', 'tiller.txt', false, true],
  ['a\\*b', 'a*b', false, true],
  ['a\\*b', 'axb', false, false],
  ['a.b', 'axb', false, false],
  ['[\\]x-]y', ']y', false, true],
  ['*a*b', 'xaxab', false, true],
  ['*a*b*', 'xbxa', false, false],
  ['a*', 'a', false, true],
  ['', 'templates/.hidden', false, true],
  ['', 'templates/a/.hidden', false, false],
  ['  # comment\n\n x ', 'x', false, true],
];
for (const [rules, path, folder, ignored] of verdicts) {
  test(`${JSON.stringify(rules)} ${ignored ? 'leaves out' : 'keeps'} ${path}${folder ? '/' : ''}`, () => {
    assert.equal(parseHelmignore(rules)(path, folder), ignored);
  });
}

test('a rule made to take long does not', () => {
  const started = performance.now();
  assert.equal(parseHelmignore(`${'*a'.repeat(200)}b`)('a'.repeat(250), false), false);
  assert.ok(performance.now() - started < 10_000);
});

test('two stars are refused, as by Helm', () => {
  assert.throws(() => parseHelmignore('a/**'), { code: 'ChartRefused', message: /`\*\*`/ });
});
