import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EspalierError, messageOf } from '../api/errors.ts';
import { signalGroup } from './group.ts';
import { redactor } from './redact.ts';
import { spawnGroup } from './spawn.ts';

export interface StartOptions {
  args: string[];
  /** For messages; the program's file name when not given. */
  name?: string | undefined;
  cwd?: string | undefined;
  env?: Record<string, string> | undefined;
  /** Receives stdout and stderr, appended. */
  logFile: string;
  /** Asked again and again until it answers true. A rejection counts as "not yet". */
  ready?: ((signal: AbortSignal) => Promise<boolean>) | undefined;
  readyTimeoutMs?: number | undefined;
  /** Ends the start. A program that is ready is ended by `stop`. */
  signal?: AbortSignal | undefined;
  /** Hidden in the lines of the log that an error message repeats. */
  secrets?: readonly string[] | undefined;
}

export interface RunningProgram {
  readonly name: string;
  /** Also the number of its process group. */
  readonly pid: number;
  readonly logFile: string;
  /** Resolves once it is gone, for whatever reason. */
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  isRunning(): boolean;
  /** SIGTERM to the group, SIGKILL after `graceMs` (default 5 s); resolves once it is gone. Harmless when repeated. */
  stop(options?: { graceMs?: number }): Promise<void>;
}

const DEFAULT_READY_MS = 30_000;
const DEFAULT_GRACE_MS = 5000;
const ASK_EVERY_MS = 50;

/** Starts a program that stays, and resolves when it is ready. It dies when this process does, even by SIGKILL. */
export async function startProgram(path: string, options: StartOptions): Promise<RunningProgram> {
  const program = await launch(path, options);
  try {
    await untilReady(program, options);
    return program;
  } catch (error) {
    await program.stop({ graceMs: 1000 });
    throw error;
  }
}

async function launch(path: string, options: StartOptions): Promise<RunningProgram> {
  const name = options.name ?? basename(path);
  if (options.signal?.aborted) throw new EspalierError('Aborted', `${name} was not started: its caller gave up`);
  const log = openSync(options.logFile, 'a', 0o600);
  let child: ChildProcess;
  try {
    child = await spawnGroup(path, {
      args: options.args,
      cwd: options.cwd,
      env: options.env,
      stdio: ['ignore', log, log],
    });
  } finally {
    closeSync(log);
  }
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) =>
      reject(new EspalierError('ProgramFailed', `${path} can't be started: ${messageOf(error)}`, { cause: error })),
    );
  });
  return { name, pid: child.pid ?? 0, logFile: options.logFile, exited, isRunning, stop };

  function isRunning(): boolean {
    return child.exitCode === null && child.signalCode === null;
  }

  async function stop({ graceMs = DEFAULT_GRACE_MS }: { graceMs?: number } = {}): Promise<void> {
    const { pid } = child;
    if (pid === undefined || !isRunning()) return;
    signalGroup(pid, graceMs > 0 ? 'SIGTERM' : 'SIGKILL');
    const killer = setTimeout(() => signalGroup(pid, 'SIGKILL'), graceMs);
    await exited;
    clearTimeout(killer);
  }
}

async function untilReady(program: RunningProgram, options: StartOptions): Promise<void> {
  const { ready, readyTimeoutMs = DEFAULT_READY_MS } = options;
  if (ready === undefined) return;
  const deadline = AbortSignal.timeout(readyTimeoutMs);
  const gone = new AbortController();
  void program.exited.then(() => gone.abort());
  const signal = AbortSignal.any([deadline, gone.signal, ...(options.signal === undefined ? [] : [options.signal])]);
  const over = new Promise<false>((resolve) => signal.addEventListener('abort', () => resolve(false), { once: true }));
  while (!signal.aborted) {
    const answer = await Promise.race([ready(signal).catch(() => false), over]);
    if (answer && program.isRunning()) return;
    await sleep(ASK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
  if (options.signal?.aborted) throw new EspalierError('Aborted', `${program.name} was stopped: its caller gave up`);
  const last = redactor(options.secrets ?? [])(await tailOf(program.logFile));
  const where = `See ${program.logFile}${last === '' ? '' : `, which ends with:\n${last}`}`;
  if (!program.isRunning()) {
    const { code, signal: by } = await program.exited;
    const how = by === null ? `with code ${code}` : `by ${by}`;
    throw new EspalierError('ProgramFailed', `${program.name} ended ${how} before it was ready. ${where}`);
  }
  throw new EspalierError(
    'ProgramTimedOut',
    `${program.name} was not ready within ${readyTimeoutMs / 1000} s. ${where}`,
  );
}

/** The last lines of a log, read from its end. */
export async function tailOf(file: string, lines = 5): Promise<string> {
  const handle = await open(file, 'r').catch(() => undefined);
  if (handle === undefined) return '';
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, 8192);
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString('utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } finally {
    await handle.close();
  }
}
