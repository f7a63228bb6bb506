import assert from 'node:assert/strict';
import { test } from 'node:test';
import { painter } from './paint.ts';
import { Table } from './table.ts';

const rows = (...lines: string[][]) => lines.map((line) => line.map((text) => ({ text })));

test('aligns columns by their longest cell, and leaves no spaces at the end', () => {
  const table = new Table({ paint: painter(false) });
  assert.deepEqual(table.lines(rows(['NAME', 'READY', 'WHY'], ['cert-manager', 'True', ''], ['größe', 'No', 'x'])), [
    'NAME           READY   WHY',
    'cert-manager   True',
    'größe          No      x',
  ]);
});

test('a table that grows keeps its columns', () => {
  const table = new Table({ paint: painter(false) });
  table.lines(rows(['cert-manager', 'True']));
  assert.deepEqual(table.lines(rows(['web', 'True'])), ['web            True']);
});

test('colours do not count as width', () => {
  const table = new Table({ paint: painter(true) });
  const lines = table.lines([
    [{ text: 'True', colour: 'green' }, { text: 'a' }],
    [{ text: 'Unknown' }, { text: 'b' }],
  ]);
  assert.deepEqual(lines, ['\u001b[32mTrue\u001b[0m      a', 'Unknown   b']);
});

test('the last column is cut to the width of the terminal, but something of it is always shown', () => {
  const long = 'a reason that goes on and on';
  assert.deepEqual(new Table({ paint: painter(false), width: 30 }).lines(rows(['web', long])), [
    'web   a reason that goes on a…',
  ]);
  assert.deepEqual(new Table({ paint: painter(false), width: 5 }).lines(rows(['web', long])), [
    'web   a reason that goes …',
  ]);
});
