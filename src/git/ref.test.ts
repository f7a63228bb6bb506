import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeSpec, prefixesFor, selectRef } from './ref.ts';

const [A, B, C] = ['a'.repeat(40), 'b'.repeat(40), 'c'.repeat(40)];
const REFS = [
  { ref: 'HEAD', oid: A, target: 'refs/heads/main' },
  { ref: 'refs/heads/main', oid: A },
  { ref: 'refs/heads/main-2', oid: B },
  { ref: 'refs/tags/v1.0.0', oid: B, peeled: C },
];

test('takes the most precise of several', () => {
  const spec = { branch: 'main', tag: 'v1.0.0', semver: '1.x', commit: B };
  const pick = (): string => 'v1.0.0';
  assert.deepEqual(selectRef(spec, REFS, pick), { commit: B });
  assert.deepEqual(selectRef({ ...spec, commit: undefined }, REFS, pick), { commit: C, ref: 'refs/tags/v1.0.0' });
  assert.deepEqual(selectRef({ branch: 'main', tag: 'v1.0.0' }, REFS, undefined), {
    commit: C,
    ref: 'refs/tags/v1.0.0',
  });
  assert.equal(describeSpec(spec), `commit ${B}`);
});

test('takes a name as it is, and not another that begins like it', () => {
  assert.deepEqual(selectRef({ branch: 'main' }, REFS.slice(2), undefined), undefined);
  assert.deepEqual(selectRef({}, REFS, undefined), { commit: A, ref: 'refs/heads/main' });
  assert.equal(
    selectRef({ semver: '9.x' }, REFS, () => undefined),
    undefined,
  );
});

test('asks for no more than it needs', () => {
  assert.deepEqual(prefixesFor({ branch: 'feature/x' }), ['refs/heads/feature/x']);
  assert.deepEqual(prefixesFor({ semver: '1.x' }), ['refs/tags/']);
  assert.deepEqual(prefixesFor({ commit: A }), []);
  assert.deepEqual(prefixesFor({}), ['HEAD']);
});
