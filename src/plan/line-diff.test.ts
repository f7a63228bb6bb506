import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineDiff } from './line-diff.ts';

test('shows what stayed, was taken away and was added, also where no line end is', () => {
  assert.deepEqual(lineDiff('a\nb\nc', 'a\nx\nc\n'), [
    ' a\n',
    '-b\n',
    '-c\n\\ No newline at end of file\n',
    '+x\n',
    '+c\n',
  ]);
});

test('texts that differ in thousands of lines are shown as taken away and written anew, and soon', () => {
  const text = (odd: string) => Array.from({ length: 3000 }, (_, at) => `${at % 2 === 0 ? at : odd + at}\n`).join('');
  const lines = lineDiff(text('a'), text('b'));
  assert.deepEqual(
    lines.map((line) => line[0]),
    [...Array(3000).fill('-'), ...Array(3000).fill('+')],
  );
});
