import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const CLI = join(import.meta.dirname, '..', 'src', 'cli.ts');
const READY_TIMEOUT_MS = 30_000;
/** Linux counts processor time in hundredths of a second. */
const MS_PER_TICK = 10;

export interface AgentProcess {
  url: string;
  pid: number;
  /** Processor time so far, of the process and of the children that it has waited for. */
  cpuMs(): Promise<number>;
  /** Resident memory now, and the most it ever was, in MB. */
  memory(): Promise<{ now: number; most: number }>;
  /** HTTP exchanges with the API server so far, by verb and kind: `patch Plugin`. A watch counts when it ends. */
  requests(): Promise<Map<string, number>>;
  /** SIGTERM; resolves when the process has ended. */
  stop(): Promise<void>;
}

export interface AgentProcessOptions {
  kubeconfig: string;
  /** For its cache, and its log `agent.log`. */
  dir: string;
}

/** The agent as users run it: a process of its own. `ESPALIER_BENCH_NODE` is given to Node, for example `--cpu-prof`. */
export async function startAgentProcess({ kubeconfig, dir }: AgentProcessOptions): Promise<AgentProcess> {
  const extra = (process.env.ESPALIER_BENCH_NODE ?? '').split(' ').filter((word) => word !== '');
  const flags = ['--kubeconfig', kubeconfig, '-n', 'default', '--listen', '127.0.0.1:0', '--allow-http'];
  const child = spawn(process.execPath, [...extra, CLI, 'agent', ...flags, '--allow-private', '--grace', '5s'], {
    env: { ...process.env, ESPALIER_CACHE_DIR: dir },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  // However the benchmark itself ends, it leaves no agent behind.
  const killed = (): void => void child.kill('SIGKILL');
  process.once('exit', killed);
  const stop = async (): Promise<void> => {
    process.off('exit', killed);
    child.kill('SIGTERM');
    await ended;
  };
  try {
    const url = await started(child, join(dir, 'agent.log'));
    const pid = child.pid ?? 0;
    return {
      url,
      pid,
      cpuMs: () => cpuMs(pid),
      memory: () => memory(pid),
      requests: () => requests(url),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Reads the log until the agent has said where it listens and that it leads, then asks whether its caches are filled. */
async function started(child: ChildProcess, log: string): Promise<string> {
  if (child.stderr === null) throw new Error('the agent has no stderr');
  child.stderr.pipe(createWriteStream(log, { flags: 'a' }));
  const said = Promise.withResolvers<string>();
  let url: string | undefined;
  let leads = false;
  let last = '';
  createInterface({ input: child.stderr }).on('line', (line) => {
    last = line;
    if (line.includes('"msg":"started"')) url = JSON.parse(line).url;
    if (line.includes('"msg":"leading"')) leads = true;
    if (url !== undefined && leads) said.resolve(url);
  });
  child.once('exit', (code) => said.reject(new Error(`the agent ended with ${code}: ${last}`)));
  const tooLong = setTimeout(() => said.reject(new Error(`the agent did not start: ${last}`)), READY_TIMEOUT_MS);
  const address = await said.promise.finally(() => clearTimeout(tooLong));
  const until = Date.now() + READY_TIMEOUT_MS;
  while ((await fetch(`${address}/readyz`)).status !== 200) {
    if (Date.now() > until) throw new Error('the caches of the agent were not filled in time');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return address;
}

async function cpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The second field, the name, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system, childUser, childSystem] = fields.slice(11, 15).map(Number);
  return ((user ?? 0) + (system ?? 0) + (childUser ?? 0) + (childSystem ?? 0)) * MS_PER_TICK;
}

async function memory(pid: number): Promise<{ now: number; most: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const megabytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN) / 1024;
  return { now: megabytes('VmRSS'), most: megabytes('VmHWM') };
}

async function requests(url: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counts = new Map<string, number>();
  for (const [, labels = '', value] of text.matchAll(/^espalier_api_request_duration_seconds_count\{(.*)\} (\d+)$/gm)) {
    const [verb, kind] = ['verb', 'kind'].map((name) => new RegExp(`${name}="([^"]*)"`).exec(labels)?.[1] ?? '');
    const key = `${verb} ${kind}`.trim();
    counts.set(key, (counts.get(key) ?? 0) + Number(value));
  }
  return counts;
}

/** What was sent between two counts. */
export function requestsSince(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>) {
  const sent = new Map<string, number>();
  for (const [key, count] of after) if (count > (before.get(key) ?? 0)) sent.set(key, count - (before.get(key) ?? 0));
  return sent;
}

/** `2 patch Plugin, 1 apply ConfigMap`. */
export function describeRequests(sent: ReadonlyMap<string, number>): string {
  return [...sent].map(([key, count]) => `${count} ${key}`).join(', ') || 'none';
}
