import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Who holds a lock. A pid alone is not enough: pids are used again, and containers count from 1. */
export interface Owner {
  /** Unlike any other holder, also of the same process. */
  token: string;
  pid: number;
  started: string;
  machine: string;
  /** For the message of who waits: "helm 4.3.1". */
  doing: string;
}

export function ownerOf(token: string, doing: string): Owner {
  return { token, pid: process.pid, started: startOf(process.pid) ?? '', machine: thisMachine(), doing };
}

/** Undefined for text that no complete owner was written in. */
export function parseOwner(text: string): Owner | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isOwner(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** True only when that process is surely gone. Of another machine or container nothing is known. */
export function isGone(owner: Owner): boolean {
  return owner.machine === thisMachine() && startOf(owner.pid) !== owner.started;
}

function isOwner(value: unknown): value is Owner {
  if (typeof value !== 'object' || value === null) return false;
  const fields: Record<string, unknown> = { ...value };
  return (
    typeof fields.pid === 'number' &&
    ['token', 'started', 'machine', 'doing'].every((field) => typeof fields[field] === 'string')
  );
}

/** When a process began; undefined for one that is gone, or dead and not yet collected by its parent. */
export function startOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return startByPs(pid);
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function startByPs(pid: number): string | undefined {
  try {
    const text = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { stdio: ['ignore', 'pipe', 'ignore'] });
    return text.toString().trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Pids mean the same only within one boot of one machine and one pid namespace. */
function thisMachine(): string {
  return [
    hostname(),
    read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    read(() => readlinkSync('/proc/self/ns/pid')),
  ]
    .map((part) => part.trim())
    .join(' ');
}

function read(source: () => string): string {
  try {
    return source();
  } catch {
    return '';
  }
}
