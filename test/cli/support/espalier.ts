import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { testKubeconfig } from '../../support/cluster.ts';

const CLI = join(import.meta.dirname, '..', '..', '..', 'src', 'cli.ts');
const DEADLINE_MS = 60_000;
/** The cache spares every child the compiling that the first one did. */
const ENVIRONMENT = {
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
};

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  /** What it printed so far. */
  output: { stdout: string; stderr: string };
  ended: Promise<Ended>;
  kill(): void;
}

export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
}

/** Runs the command line as a person would, against the shared control plane, and waits for its end. */
export async function espalier(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return await launch(args, options).ended;
}

/** The same for a command that goes on: it is ended with the test. */
export function startEspalier(t: Pick<TestContext, 'after'>, args: readonly string[]): Running {
  const running = launch(args, {});
  t.after(() => running.kill());
  return running;
}

function launch(args: readonly string[], { env = {}, cwd }: RunOptions): Running {
  const child = spawn(process.execPath, [CLI, ...args], {
    env: { ...ENVIRONMENT, KUBECONFIG: testKubeconfig(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: DEADLINE_MS,
    ...(cwd === undefined ? {} : { cwd }),
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...output }));
  });
  return { output, ended, kill: () => child.kill('SIGKILL') };
}
