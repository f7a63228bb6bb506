import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { runCli } from '../../../src/cli/run.ts';
import { testKubeconfig } from '../../support/cluster.ts';

const CLI = join(import.meta.dirname, '..', '..', '..', 'src', 'cli.ts');
const DEADLINE_MS = 60_000;
/** The cache spares every child the compiling that the first one did. */
const ENVIRONMENT = {
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  TMPDIR: tmpdir(),
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'node-compile-cache'),
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
  kill(signal?: NodeJS.Signals): void;
}

export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  deadlineMs?: number;
}

/**
 * Runs a command line against the shared control plane and waits for its end: in this process, where all is loaded
 * already, for a process of its own takes most of a second of a processor.
 */
export async function espalier(args: readonly string[]): Promise<Ended> {
  capture();
  process.env.KUBECONFIG = testKubeconfig();
  const output = { stdout: '', stderr: '' };
  const code = await printed.run(output, () => runCli(args));
  return { code, ...output };
}

/** The same as a person would: the program, with the environment and the folder that it is given. */
export async function espalierProcess(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return await launch(args, options).ended;
}

const printed = new AsyncLocalStorage<{ stdout: string; stderr: string }>();
let captures = false;

/** From now on what a command line prints is its own, also with several at once. */
function capture(): void {
  if (captures) return;
  captures = true;
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = process[name];
    const write = stream.write.bind(stream) as (chunk: string | Uint8Array, ...rest: unknown[]) => boolean;
    stream.write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
      const output = printed.getStore();
      if (output === undefined || typeof chunk !== 'string') return write(chunk, ...rest);
      output[name] += chunk;
      return true;
    };
  }
}

/** The same for a command that goes on: it is ended with the test. */
export function startEspalier(
  t: Pick<TestContext, 'after'>,
  args: readonly string[],
  options: RunOptions = {},
): Running {
  const running = launch(args, options);
  t.after(() => running.kill());
  return running;
}

function launch(args: readonly string[], { env = {}, cwd, deadlineMs = DEADLINE_MS }: RunOptions): Running {
  const child = spawn(process.execPath, [CLI, ...args], {
    env: { ...ENVIRONMENT, KUBECONFIG: testKubeconfig(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: deadlineMs,
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
  return { output, ended, kill: (signal = 'SIGKILL') => child.kill(signal) };
}
