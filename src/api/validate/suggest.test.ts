import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { editDistance, suggest } from './suggest.ts';

const FIELDS = ['timeout', 'dependsOn', 'values', 'valuesFrom', 'when'];

describe('suggests', () => {
  for (const [word, meant] of [
    ['timout', 'timeout'],
    ['dependson', 'dependsOn'],
    ['vlaues', 'values'],
    ['valueFrom', 'valuesFrom'],
    ['depends_on', 'dependsOn'],
  ]) {
    test(`${meant} for ${word}`, () => assert.equal(suggest(word ?? '', FIELDS), meant));
  }
});

test('suggests nothing for a word that is like none', () => {
  assert.equal(suggest('replicas', FIELDS), undefined);
  assert.equal(suggest('x', FIELDS), undefined);
  assert.equal(suggest('t'.repeat(100_000), FIELDS), undefined);
});

test('counts a swap of neighbours as one edit', () => {
  assert.equal(editDistance('hlem', 'helm'), 1);
  assert.equal(editDistance('', 'helm'), 4);
});
