import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

export interface Measured {
  ms: number;
  /** Processor time of the program and of all that it started and waited for. */
  cpuMs: number;
  /** The most memory that it ever had, in MB. */
  megabytes: number;
}

const LOOK_EVERY_MS = 20;

/** Runs a program to its end. Bash counts its processor time, and Linux its memory. */
export async function measured(program: string, args: readonly string[]): Promise<Measured> {
  const started = performance.now();
  const child = spawn('bash', ['-c', 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>&1', '-', program, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let megabytes = 0;
  const watch = async (): Promise<void> => {
    while (child.exitCode === null) {
      megabytes = Math.max(megabytes, await mostOf(child.pid ?? 0));
      await wait(LOOK_EVERY_MS);
    }
  };
  const [code] = await Promise.all([ended, watch()]);
  const [user = 0, system = 0] = (said.trim().split('\n').at(-1) ?? '').split(' ').map(Number);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}`);
  return { ms: performance.now() - started, cpuMs: (user + system) * 1000, megabytes };
}

/** Of the program that this bash runs. */
async function mostOf(bash: number): Promise<number> {
  try {
    const [child = ''] = (await readFile(`/proc/${bash}/task/${bash}/children`, 'utf8')).split(' ');
    const status = child === '' ? '' : await readFile(`/proc/${child}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
