import { type ChildProcess, spawn } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { removeFolder } from '../../src/playground/folder.ts';
import { cacheFor } from '../../src/tools/cache.ts';
import { globalSetup, globalTeardown } from '../support/setup.ts';
import { openQueue } from './queue.ts';
import { FAILURES, type LaneTotal } from './report.ts';
import { openScratch } from './scratch.ts';

/**
 * `npm test`: all test files, or those that the arguments name (`test/git/*.test.ts`), in a few processes side by side,
 * the longest of the last run first. Arguments that begin with a dash go to Node (`--test-name-pattern=…`).
 */
const LANES = Math.max(4, 2 * availableParallelism() + 1);
/** A full sweep of kills is one test that takes as long as it takes. */
const TEST_TIMEOUT_MS = process.env.ESPALIER_TEST_SWEEP === 'full' ? 3_600_000 : 300_000;
const HERE = import.meta.dirname;
/** How long each file took the last time. */
const TIMES = join(cacheFor(process.env).root, 'test-times.json');

const args = process.argv.slice(2);
const options = args.filter((arg) => arg.startsWith('-'));
const patterns = args.filter((arg) => !arg.startsWith('-'));
const times = readTimes();
const named = globSync(patterns.length === 0 ? 'test/**/*.test.ts' : patterns);
const files = longestFirst(named.filter((name) => name.endsWith('.test.ts')));
if (files.length === 0) throw new Error(`no test file is named ${patterns.join(' or ')}`);

const started = performance.now();
const scratch = await openScratch();
if (scratch !== undefined) process.env.TMPDIR = scratch;
const folder = mkdtempSync(join(tmpdir(), 'espalier-run-'));
const queue = openQueue(folder, files);
const lanes: ChildProcess[] = [];
let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    isStopped = true;
    for (const lane of lanes) lane.kill(signal);
  });
}

try {
  await globalSetup(scratch);
  const count = isStopped ? 0 : Math.min(LANES, files.length);
  const codes = await Promise.all(Array.from({ length: count }, runLane));
  process.exitCode = tellTotal(codes) ? 0 : 1;
} finally {
  await globalTeardown();
  rmSync(folder, { recursive: true, force: true });
  if (scratch !== undefined) await removeFolder(scratch);
}

function runLane(): Promise<number> {
  const lane = spawn(
    process.execPath,
    [
      `--import=${join(HERE, '..', 'support', 'untracked-promises.ts')}`,
      '--test-force-exit',
      `--test-timeout=${TEST_TIMEOUT_MS}`,
      `--test-reporter=${join(HERE, 'report.ts')}`,
      '--test-reporter-destination=stdout',
      ...options,
      join(HERE, 'lane.ts'),
      folder,
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  lanes.push(lane);
  return new Promise((resolve, reject) => {
    lane.once('error', reject);
    lane.once('exit', (code) => resolve(code ?? 1));
  });
}

/** What failed once more, what did not run, and the counts; true when all went well. */
function tellTotal(codes: number[]): boolean {
  const totals = readdirSync(folder)
    .filter((name) => name.startsWith('total-'))
    .map((name): LaneTotal => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  const failures = readdirSync(folder).includes(FAILURES) ? readFileSync(join(folder, FAILURES), 'utf8') : '';
  if (failures !== '') console.log(`\n✖ failing tests:${failures}`);
  const missed = queue.missed();
  if (missed.length > 0) console.log(`\n✖ not run to their end:\n${missed.map((file) => `  ${file}\n`).join('')}`);
  const sum = (name: string): number => totals.reduce((all, { counts }) => all + (counts[name] ?? 0), 0);
  console.log(`ℹ files ${files.length}`);
  for (const name of ['tests', 'passed', 'failed', 'cancelled', 'skipped', 'todo'])
    console.log(`ℹ ${{ passed: 'pass', failed: 'fail' }[name] ?? name} ${sum(name)}`);
  console.log(`ℹ duration_ms ${Math.round(performance.now() - started)}`);
  writeTimes(Object.assign({}, times, ...totals.map(({ ms }) => ms)));
  return missed.length === 0 && codes.every((code) => code === 0);
}

function longestFirst(found: string[]): string[] {
  // One that never ran counts by its size: about a second for two kilobytes.
  const msOf = new Map(found.map((file) => [file, times[file] ?? statSync(file).size / 2]));
  return found.map((file) => normalize(file)).sort((a, b) => (msOf.get(b) ?? 0) - (msOf.get(a) ?? 0));
}

function readTimes(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(TIMES, 'utf8'));
  } catch {
    return {};
  }
}

function writeTimes(all: Record<string, number>): void {
  mkdirSync(dirname(TIMES), { recursive: true });
  writeFileSync(TIMES, JSON.stringify(all));
}
