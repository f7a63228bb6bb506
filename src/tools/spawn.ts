import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { EspalierError } from '../api/errors.ts';
import { isExecutable, onPath } from './executable.ts';
import { signalGroup } from './group.ts';
import { guardGroup, prepareGuard } from './guard.ts';

export interface SpawnOptions {
  args: string[];
  cwd?: string | undefined;
  env?: Record<string, string> | undefined;
  /** For stdin, stdout and stderr. */
  stdio: Extract<StdioOptions, unknown[]>;
}

/** Some shells put these into the environment of what they run. */
const ADDED_BY_SHELLS = ['PWD', 'OLDPWD', 'SHLVL'];

/**
 * Starts a program in a process group of its own. The group ends with its first process, and with ours, even by
 * SIGKILL. A descendant that makes itself a new session leaves the group, and with it this promise.
 */
export async function spawnGroup(path: string, options: SpawnOptions): Promise<ChildProcess> {
  const env = { ...inherited(), ...options.env };
  const program = path.includes('/') ? path : ((await onPath(path, env.PATH))[0] ?? path);
  if (!(await isExecutable(program))) {
    throw new EspalierError('ProgramFailed', `${path} can't be started: there is no such program that may be run`);
  }
  prepareGuard();
  const child = spawn('/bin/sh', ['-c', gateFor(env), program, ...options.args], {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env,
    detached: true,
    stdio: [...options.stdio, 'pipe'],
  });
  const { pid } = child;
  if (pid !== undefined) {
    const release = guardGroup(pid);
    child.once('exit', () => {
      signalGroup(pid, 'SIGKILL');
      release();
    });
    open(child.stdio[3]);
  }
  return child;
}

/**
 * The new process waits until the guard knows its group, and then becomes the program: were we killed in between,
 * nobody would end it. The shell is gone by then, and has not looked at the arguments.
 */
function gateFor(env: Record<string, string>): string {
  const added = ADDED_BY_SHELLS.filter((name) => env[name] === undefined);
  return `read -r ESPALIER_GATE <&3 || exit 125; unset ESPALIER_GATE ${added.join(' ')}; exec "$0" "$@" 3<&-`;
}

function open(gate: unknown): void {
  if (!(gate instanceof Socket)) return;
  gate.on('error', () => {}); // the process may have been killed at the gate
  gate.end('open\n', () => gate.destroy());
}

/** All that a child gets without being given it: where programs are, and where home is. */
function inherited(): Record<string, string> {
  const { PATH, HOME } = process.env;
  return { PATH: PATH ?? '/usr/local/bin:/usr/bin:/bin', ...(HOME === undefined ? {} : { HOME }) };
}
