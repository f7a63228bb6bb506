import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { EspalierError, messageOf } from '../api/errors.ts';
import { signalGroup } from './group.ts';
import { lineSplitter } from './lines.ts';
import { redactor } from './redact.ts';
import { spawnGroup } from './spawn.ts';

export interface RunOptions {
  args: string[];
  cwd?: string | undefined;
  /** All of the environment, besides PATH and HOME of ours where they are not given. */
  env?: Record<string, string> | undefined;
  input?: string | Uint8Array | undefined;
  timeoutMs: number;
  /** How long the group may take to end by itself after SIGTERM, before SIGKILL. Default 3 s. */
  graceMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** For each of stdout and stderr. Default 32 MiB. */
  maxOutputBytes?: number | undefined;
  /** Hidden in stderr in every usual encoding. Stdout is data, and stays as it is. */
  secrets?: readonly string[] | undefined;
  onStderrLine?: ((line: string) => void) | undefined;
}

export interface RunResult {
  /** The exit code; 128 and the number of the signal when a signal ended it. */
  code: number;
  signal: string | null;
  stdout: string;
  stderr: string;
  ms: number;
}

const DEFAULT_GRACE_MS = 3000;
const DEFAULT_MAX_OUTPUT = 32 * 1024 * 1024;
/** What is in the pipes after the first process ended arrives within this time, or belongs to a runaway descendant. */
const DRAIN_MS = 1000;

/**
 * Runs a program to its end. A non-zero exit is an answer. A deadline, too much output or an abort kills the whole
 * process group and throws; nothing that the program wrote is part of the error, as it may hold secrets.
 */
export async function runProgram(path: string, options: RunOptions): Promise<RunResult> {
  const name = basename(path);
  const started = performance.now();
  if (options.signal?.aborted) throw aborted(name, options.signal);
  const child = await spawnGroup(path, {
    args: options.args,
    cwd: options.cwd,
    env: options.env,
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  const stop = stopper(child, options.graceMs ?? DEFAULT_GRACE_MS);
  const redact = redactor(options.secrets ?? []);
  const limit = options.maxOutputBytes ?? DEFAULT_MAX_OUTPUT;
  const tooLarge = () =>
    stop.because(new EspalierError('ProgramOutputTooLarge', `${name} wrote more than ${limit} bytes and was stopped`));
  const stdout = collect(child.stdout, limit, tooLarge);
  const stderr = collect(child.stderr, limit, tooLarge);
  const { onStderrLine } = options;
  if (onStderrLine !== undefined) follow(child.stderr, (line) => onStderrLine(redact(line)));
  feed(child, options.input);
  const deadline = setTimeout(() => stop.because(timedOut(name, options.timeoutMs)), options.timeoutMs);
  const onAbort = () => stop.because(aborted(name, options.signal));
  options.signal?.addEventListener('abort', onAbort, { once: true });
  if (options.signal?.aborted) onAbort();
  try {
    const end = await ending(child, path);
    if (stop.reason !== undefined) throw stop.reason;
    const ms = Math.round(performance.now() - started);
    return { ...end, stdout: stdout(), stderr: redact(stderr()), ms };
  } finally {
    clearTimeout(deadline);
    stop.done();
    options.signal?.removeEventListener('abort', onAbort);
  }
}

/** Ends the group once, for the first reason given: SIGTERM, then SIGKILL. */
function stopper(child: ChildProcess, graceMs: number) {
  let killer: NodeJS.Timeout | undefined;
  const state: { reason: EspalierError | undefined; because(reason: EspalierError): void; done(): void } = {
    reason: undefined,
    because(reason) {
      const { pid } = child;
      if (state.reason !== undefined || pid === undefined || child.exitCode !== null) return;
      state.reason = reason;
      signalGroup(pid, 'SIGTERM');
      killer = setTimeout(() => signalGroup(pid, 'SIGKILL'), graceMs);
    },
    done: () => clearTimeout(killer),
  };
  return state;
}

/** Keeps what a stream says up to a limit; beyond it the rest is read and dropped, so that the program can end. */
function collect(stream: Readable | null, limit: number, onTooMuch: () => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream?.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > limit) onTooMuch();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

function follow(stream: Readable | null, onLine: (line: string) => void): void {
  const lines = lineSplitter(onLine);
  stream?.on('data', (chunk: Buffer) => lines.write(chunk));
  stream?.on('end', () => lines.end());
}

function feed(child: ChildProcess, input: string | Uint8Array | undefined): void {
  if (input === undefined) return;
  child.stdin?.on('error', () => {}); // a program may end without reading all of its input
  child.stdin?.end(input);
}

function ending(child: ChildProcess, path: string): Promise<{ code: number; signal: string | null }> {
  return new Promise((resolve, reject) => {
    let drain: NodeJS.Timeout | undefined;
    child.once('error', (error) => {
      reject(new EspalierError('ProgramFailed', `${path} can't be started: ${messageOf(error)}`, { cause: error }));
    });
    child.once('exit', () => {
      drain = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, DRAIN_MS);
    });
    child.once('close', (code, signal) => {
      clearTimeout(drain);
      resolve({ code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]), signal });
    });
  });
}

function timedOut(name: string, timeoutMs: number): EspalierError {
  return new EspalierError('ProgramTimedOut', `${name} did not end within ${timeoutMs / 1000} s and was stopped`, {
    data: { program: name, timeoutMs },
  });
}

function aborted(name: string, signal: AbortSignal | undefined): EspalierError {
  return new EspalierError('Aborted', `${name} was stopped because its caller gave up`, { cause: signal?.reason });
}
