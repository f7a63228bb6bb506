import { existsSync } from 'node:fs';
import { EspalierError, isError, messageOf } from '../api/errors.ts';
import { findTool, variableFor } from './find.ts';
import type { Batch } from './install.ts';
import type { ReportProgress } from './progress.ts';
import { showProgress } from './show-progress.ts';
import { type Surroundings, surroundingsOf } from './surroundings.ts';
import type { Tool } from './table.ts';

export interface ObtainOptions {
  /** Another version than the table's. */
  version?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Default: a bar or lines on stderr when it takes longer than a second. */
  progress?: ReportProgress | undefined;
  surroundings?: Surroundings | undefined;
}

/** Answers of this process. A path is looked at again before it is given out. */
const known = new Map<string, string>();

/** Finds programs, and installs what is nowhere, in the order given. Answers every path by the program's name. */
export async function obtain(tools: readonly Tool[], options: ObtainOptions = {}): Promise<Map<string, string>> {
  const surroundings = options.surroundings ?? surroundingsOf();
  const paths = new Map<string, string>();
  const absent = new Map<Tool, string[]>();
  for (const tool of tools) {
    const version = options.version ?? tool.version;
    const before = known.get(keyOf(tool, version, surroundings));
    if (before !== undefined && existsSync(before)) {
      paths.set(tool.name, before);
      continue;
    }
    const found = await findTool(tool, version, surroundings, options.signal);
    if (found.state === 'absent') absent.set(tool, found.passedOver);
    else paths.set(tool.name, found.path);
  }
  if (absent.size > 0) await installAll(absent, paths, surroundings, options);
  for (const tool of tools) {
    const path = paths.get(tool.name);
    if (path !== undefined) known.set(keyOf(tool, options.version ?? tool.version, surroundings), path);
  }
  return paths;
}

/** One failing program does not keep the others from being got: the next try has less to do. */
async function installAll(
  absent: Map<Tool, string[]>,
  paths: Map<string, string>,
  surroundings: Surroundings,
  options: ObtainOptions,
): Promise<void> {
  const progress = options.progress ?? showProgress(process.stderr);
  const failures: unknown[] = [];
  const { install } = await import('./install.ts'); // most runs find everything, and need no HTTPS client
  for (const batch of batchesOf(absent, options.version)) {
    try {
      const got = await install(batch, surroundings, { signal: options.signal, progress });
      for (const [name, path] of got) paths.set(name, path);
    } catch (error) {
      if (options.signal?.aborted || isError(error, 'Aborted')) throw error;
      failures.push(error);
    }
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length === 0) return;
  throw new EspalierError('ToolMissing', failures.map(messageOf).join('\n\n'), { cause: failures, retry: false });
}

function batchesOf(absent: Map<Tool, string[]>, version: string | undefined): Batch[] {
  const groups = Map.groupBy(absent.keys(), (tool) => `${tool.recipe.module} ${version ?? tool.version}`);
  const passedOver = new Map([...absent].map(([tool, what]) => [tool.name, what]));
  return [...groups.values()].flatMap(([first, ...rest]) =>
    first === undefined ? [] : [{ tools: [first, ...rest] as const, version: version ?? first.version, passedOver }],
  );
}

function keyOf(tool: Tool, version: string, { cache, env }: Surroundings): string {
  return JSON.stringify([tool.name, version, cache.root, env[variableFor(tool.name)], env.PATH]);
}
