import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolPath } from '../src/tools/tool.ts';

const LOOK_EVERY_MS = 50;

/** Counts how often the agent starts Helm, by standing between the two. */
export interface Starts {
  /** The real program, for whoever is not to be counted. */
  helm: string;
  count(): Promise<number>;
  /** The most at one time so far. */
  most(): Promise<{ children: number }>;
  stop(): void;
}

/** From now on `helm` is a script that leaves a line at its start and its end, for programs that this process starts. */
export async function countStarts(dir: string): Promise<Starts> {
  const helm = await toolPath('helm');
  const log = join(dir, 'starts');
  const script = join(dir, 'helm');
  await writeFile(log, '');
  await writeFile(script, `#!/bin/sh\necho $$ >> ${log}\nexec ${helm} "$@"\n`, { mode: 0o755 });
  const before = process.env.ESPALIER_TOOL_HELM;
  process.env.ESPALIER_TOOL_HELM = script;
  let most = 0;
  const lines = async (): Promise<string[]> => (await readFile(log, 'utf8')).split('\n').filter((line) => line !== '');
  const timer = setInterval(async () => {
    const pids = (await lines()).slice(-200);
    const alive = await Promise.all(pids.map((pid) => isAlive(pid, helm)));
    most = Math.max(most, alive.filter((is) => is).length);
  }, LOOK_EVERY_MS);
  return {
    helm,
    count: async () => (await lines()).length,
    most: async () => ({ children: most }),
    stop() {
      clearInterval(timer);
      if (before === undefined) delete process.env.ESPALIER_TOOL_HELM;
      else process.env.ESPALIER_TOOL_HELM = before;
    },
  };
}

/** A number may have been given to another program since. */
async function isAlive(pid: string, helm: string): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return command.startsWith(helm);
}
