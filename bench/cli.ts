import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { below, median, plainTable, type Row, times } from './figures.ts';

const ESPALIER = join(import.meta.dirname, '..', 'bin', 'espalier');
const ROUNDS = 15;
const LIMIT_MS = 200;

/** How long the command line takes to say anything, beside what Node itself takes to start. */
export async function main(): Promise<Row[]> {
  const [help, bare]: number[][] = [[], []];
  // The first start fills the compile cache.
  timed(ESPALIER, ['--help']);
  for (let round = 0; round < ROUNDS; round++) {
    bare?.push(timed(process.execPath, ['-e', '0']));
    help?.push(timed(ESPALIER, ['--help']));
  }
  const [ours, node] = [median(help ?? []), median(bare ?? [])];
  const rows: Row[] = [
    below('espalier --help', ours, LIMIT_MS, (value) => `${Math.round(value)} ms`),
    { what: 'node -e 0', figure: `${Math.round(node)} ms` },
    { what: 'ratio', figure: times(ours / node) },
  ];
  console.log(`${plainTable(rows)}\n`);
  return rows;
}

function timed(program: string, args: string[]): number {
  const started = performance.now();
  const { status } = spawnSync(program, args, { stdio: 'ignore' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}`);
  return performance.now() - started;
}
