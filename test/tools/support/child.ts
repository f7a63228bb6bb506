import { type ChildProcess, spawn } from 'node:child_process';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

export interface Child {
  process: ChildProcess;
  output(): string;
  /** Resolves with all that it printed. */
  ended: Promise<string>;
}

/** Runs a file of this folder in a process of its own, which never outlives the test. */
export function child(t: TestContext, file: string, ...args: string[]): Child {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const started = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => started.kill('SIGKILL'));
  let text = '';
  started.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const ended = new Promise<string>((resolve) => started.on('close', () => resolve(text)));
  return { process: started, output: () => text, ended };
}
