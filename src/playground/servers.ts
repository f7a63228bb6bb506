import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type RunningProgram, startProgram } from '../tools/start.ts';
import { THRIFTY } from '../tools/thrifty.ts';

export type ServerName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kwok';

const READY_TIMEOUT_MS = 60_000;

/** The programs of one control plane: started with a log each, watched, and ended together. */
export class Servers {
  readonly logs: string;
  /** Resolves with the name of a server that ended though nobody stopped it. */
  readonly broken: Promise<ServerName>;
  readonly #folder: string;
  readonly #paths: Record<ServerName, string>;
  readonly #env: Readonly<Record<string, string>>;
  readonly #running = new Map<ServerName, RunningProgram>();
  #isOver = false;
  #reportBroken: (name: ServerName) => void = () => {};

  constructor(folder: string, paths: Record<ServerName, string>, memoryLimit: string = THRIFTY.GOMEMLIMIT) {
    this.#folder = folder;
    this.#env = { HOME: folder, ...THRIFTY, GOMEMLIMIT: memoryLimit };
    this.#paths = { ...paths };
    this.logs = join(folder, 'logs');
    mkdirSync(this.logs, { mode: 0o700 });
    this.broken = new Promise((resolve) => {
      this.#reportBroken = resolve;
    });
  }

  /** Resolves when the server is ready, or at once where that can't be asked. */
  async start(
    name: ServerName,
    args: string[],
    options: { ready?: (() => Promise<boolean>) | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    const program = await startProgram(this.#paths[name], {
      ...options,
      name,
      args,
      cwd: this.#folder,
      env: this.#env,
      logFile: join(this.logs, `${name}.log`),
      readyTimeoutMs: READY_TIMEOUT_MS,
    });
    if (this.#isOver) return program.stop({ graceMs: 0 });
    this.#running.set(name, program);
    void program.exited.then(() => {
      if (this.#running.get(name) === program) this.#reportBroken(name);
    });
  }

  /** From their next start on these servers are other programs. */
  replace(paths: Partial<Record<ServerName, string>>): void {
    Object.assign(this.#paths, paths);
  }

  async stop(name: ServerName, graceMs: number): Promise<void> {
    const program = this.#running.get(name);
    this.#running.delete(name);
    await program?.stop({ graceMs });
  }

  /** At once: nothing that they hold outlives them. What is being started meanwhile ends too. */
  async stopAll(): Promise<void> {
    this.#isOver = true;
    await Promise.all([...this.#running.keys()].map((name) => this.stop(name, 0)));
  }

  pids(): number[] {
    return [...this.#running.values()].filter((program) => program.isRunning()).map((program) => program.pid);
  }
}
