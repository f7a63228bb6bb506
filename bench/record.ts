import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../src/tools/run.ts';
import { markdownTable, type Row } from './figures.ts';

const README = join(import.meta.dirname, 'README.md');

/** Puts the figures of a benchmark in the place of its last ones, between its two markers in the README. */
export async function writeFigures(bench: string, rows: readonly Row[]): Promise<void> {
  const [begin, end] = [`<!-- ${bench}: begin -->`, `<!-- ${bench}: end -->`];
  const text = await readFile(README, 'utf8');
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`bench/README.md has no place for the figures of ${bench}`);
  const machine = `${availableParallelism()} cores of ${cpus()[0]?.model ?? 'an unknown processor'}`;
  const when = `${new Date().toISOString().slice(0, 10)}, commit ${await shortCommit()}, ${machine}`;
  const section = `${begin}\n${when}\n\n${markdownTable(rows)}\n`;
  await writeFile(README, text.slice(0, from) + section + text.slice(to));
}

async function shortCommit(): Promise<string> {
  const args = ['describe', '--always', '--dirty', '--exclude', '*'];
  const { stdout } = await runProgram('git', { args, cwd: import.meta.dirname, timeoutMs: 10_000 });
  return stdout.trim() || 'unknown';
}
