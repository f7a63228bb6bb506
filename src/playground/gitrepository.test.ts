import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refChanges } from './gitrepository.ts';

test('changes of refs are new, moved and removed ones, in order of their names', () => {
  const before = new Map([
    ['refs/heads/kept', '1'],
    ['refs/heads/moved', '2'],
    ['refs/heads/removed', '3'],
  ]);
  const after = new Map([
    ['refs/tags/v1', '5'],
    ['refs/heads/moved', '4'],
    ['refs/heads/kept', '1'],
  ]);
  assert.deepEqual(refChanges(before, after), [
    { ref: 'refs/heads/moved', before: '2', after: '4' },
    { ref: 'refs/heads/removed', before: '3' },
    { ref: 'refs/tags/v1', after: '5' },
  ]);
});
