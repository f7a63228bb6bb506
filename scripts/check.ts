import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Everything that needs no external program but npm's. `npm run check -- types lint` runs those two only. */
const CHECKS: Record<string, string[]> = {
  types: ['tsc', '--noEmit'],
  lint: ['biome', 'ci', '--colors=off', '--max-diagnostics=20'],
  generated: ['node', 'scripts/generate.ts', '--check'],
  tests: [
    'node',
    '--test',
    '--test-isolation=none',
    '--test-reporter=dot',
    'test/architecture.test.ts',
    'src/**/*.test.ts',
  ],
};

interface Outcome {
  name: string;
  ok: boolean;
  seconds: string;
  output: string;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const path = `${root}node_modules/.bin:${process.env.PATH ?? ''}`;

function run(name: string, [program = '', ...args]: string[]): Promise<Outcome> {
  const started = performance.now();
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, PATH: path },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => {
    const end = (ok: boolean): void => {
      resolve({ name, ok, seconds: ((performance.now() - started) / 1_000).toFixed(1), output });
    };
    child.on('error', (error) => {
      output += `${program} did not start: ${error.message}\n`;
      end(false);
    });
    child.on('close', (code) => end(code === 0));
  });
}

async function report(running: Promise<Outcome>): Promise<Outcome> {
  const outcome = await running;
  console.log(`${outcome.ok ? 'ok    ' : 'FAILED'}  ${outcome.name.padEnd(10)} ${outcome.seconds.padStart(5)} s`);
  return outcome;
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(CHECKS, name));
if (unknown.length > 0) {
  console.error(`no check is named ${unknown.join(', ')}; there are ${Object.keys(CHECKS).join(', ')}`);
  process.exit(2);
}

const chosen = Object.entries(CHECKS).filter(([name]) => wanted.length === 0 || wanted.includes(name));
const outcomes = await Promise.all(chosen.map(([name, command]) => report(run(name, command))));
const failed = outcomes.filter(({ ok }) => !ok);
for (const { name, output } of failed) console.log(`\n── ${name} ──\n${output.trimEnd()}`);
console.log(failed.length === 0 ? '\nall checks passed' : `\nfailed: ${failed.map(({ name }) => name).join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
