import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isSameRepository, refOfRevision } from './address.ts';
import { type KustomizePatch, mergePatchesOf } from './patches.ts';
import { objectsOf } from './world.fixture.ts';

const outcome = (patch: string, target?: KustomizePatch['target']) =>
  mergePatchesOf({ patch, ...(target === undefined ? {} : { target }) }, (text) => objectsOf(text));

describe('a patch of kustomize', () => {
  test('of maps and whole lists is a merge patch', () => {
    assert.deepEqual(outcome('{spec: {replicas: 2, template: null, args: [a]}}', { kind: 'Deployment', name: '.*' }), {
      patches: [{ target: { kind: 'Deployment' }, merge: { spec: { replicas: 2, template: null, args: ['a'] } } }],
    });
    assert.deepEqual(
      outcome('[{op: replace, path: /metadata/annotations/a~1b, value: c}, {op: remove, path: /spec/x}]', {
        group: '',
      }),
      {
        patches: [
          { target: { group: '' }, merge: { metadata: { annotations: { 'a/b': 'c' } } } },
          { target: { group: '' }, merge: { spec: { x: null } } },
        ],
      },
    );
  });

  test('of several documents is one each, and its own name is whom it is for, not what it sets', () => {
    const document = (name: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, labels: {a: b}}\ndata: {c: d}\n`;
    assert.deepEqual(outcome(`${document('one')}---\n${document('two')}`), {
      patches: ['one', 'two'].map((name) => ({
        target: { group: '', version: 'v1', kind: 'ConfigMap', name },
        merge: { data: { c: 'd' }, metadata: { labels: { a: 'b' } } },
      })),
    });
  });

  for (const [what, patch, target, why] of [
    ['items of a list', '{spec: {containers: [{name: a}]}}', {}, /items of a list/],
    ['an item by its place', '[{op: add, path: /spec/list/0, value: a}]', {}, /items of a list/],
    ['an item at the end', '[{op: add, path: /spec/list/-, value: a}]', {}, /items of a list/],
    ['a map as a whole', '[{op: replace, path: /spec, value: {a: 1}}]', {}, /a map as a whole/],
    ['a condition', '[{op: test, path: /a, value: 1}]', {}, /it has test/],
    ['an order of its own', '{spec: {$patch: delete}}', {}, /it has \$patch/],
    ['whatever matches', '{a: b}', { name: 'web-.*' }, /regular expression/],
    ['nothing', '', {}, /it is empty/],
    ['what is no YAML', '{a: ]', {}, /no YAML|it is empty/],
  ] satisfies [string, string, KustomizePatch['target'], RegExp][]) {
    test(`that changes ${what} has no such form, and says so`, () => {
      const found = outcome(patch, target);
      assert.match('why' in found ? found.why : 'patches', why);
    });
  }
});

test('a repository is the same however its address is written', () => {
  const https = 'https://git.example.com/platform/fleet.git';
  for (const other of [
    'ssh://git@git.example.com/platform/fleet',
    'git@git.example.com:platform/fleet.git',
    'https://u@GIT.example.com/platform/fleet/',
  ])
    assert.ok(isSameRepository(https, other), other);
  assert.ok(!isSameRepository(https, 'https://git.example.com/platform/fleets'));
});

test('a revision is a branch, a tag or a commit by its looks', () => {
  assert.deepEqual(
    ['HEAD', 'main', 'release-1.2', 'v1.2.0', 'refs/tags/x', '1.x', '~1.2', 'a'.repeat(40)].map(refOfRevision),
    [
      undefined,
      { branch: 'main' },
      { branch: 'release-1.2' },
      { tag: 'v1.2.0' },
      { tag: 'x' },
      { semver: '1.x' },
      { semver: '~1.2' },
      { commit: 'a'.repeat(40) },
    ],
  );
});
