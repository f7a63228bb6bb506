import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isError, messageOf } from '../api/errors.ts';
import { build } from './build.ts';
import { type Downloaded, download } from './download.ts';
import { findGo, requiredGo } from './golang.ts';
import { folderOf, installedIn, place } from './installed.ts';
import { withLock } from './lock.ts';
import { missingTool } from './missing.ts';
import type { Owner } from './owner.ts';
import type { ReportProgress } from './progress.ts';
import type { Surroundings } from './surroundings.ts';
import type { Tool } from './table.ts';

/** Programs of one Go module and version: what can't be downloaded of them is built in one run. */
export interface Batch {
  tools: readonly [Tool, ...Tool[]];
  version: string;
  /** By the name of the program, for the message when there is no way. */
  passedOver: ReadonlyMap<string, string[]>;
}

export interface InstallOptions {
  signal?: AbortSignal | undefined;
  progress: ReportProgress;
}

/**
 * Downloads or builds programs into the cache and answers where each is. Whoever asks for the same at the same time,
 * in this process or another, waits and finds it there. Throws when one of them can't be had.
 */
export async function install(
  batch: Batch,
  surroundings: Surroundings,
  options: InstallOptions,
): Promise<Map<string, string>> {
  const { cache } = surroundings;
  const subject = subjectOf(batch.tools, batch.version);
  const { signal, progress } = options;
  const key = `${batch.tools[0].recipe.module}-${batch.version}`;
  const onWait = (owner: Owner | undefined) => progress({ subject, step: 'waiting', detail: waitingFor(owner) });
  try {
    return await withLock(join(cache.locks, `${key}.lock`), { doing: subject, signal, onWait }, async () => {
      const paths = await installLocked(batch, key, surroundings, { ...options, subject, onWait });
      progress({ subject, step: 'installed' });
      return paths;
    });
  } catch (error) {
    progress({ subject, step: 'failed' });
    throw error;
  }
}

export function subjectOf(tools: readonly Tool[], version: string): string {
  return `${tools.map((tool) => tool.name).join(', ')} ${version}`;
}

interface LockedOptions extends InstallOptions {
  subject: string;
  onWait: (owner: Owner | undefined) => void;
}

async function installLocked(batch: Batch, key: string, surroundings: Surroundings, options: LockedOptions) {
  const { cache } = surroundings;
  const paths = new Map<string, string>();
  const toBuild: Tool[] = [];
  const failures = new Map<string, Downloaded & { ok: false }>();
  await clearStaging(cache.staging, key);
  const staging = join(cache.staging, `${key}.${randomUUID()}`);
  await mkdir(staging, { recursive: true });
  try {
    for (const tool of batch.tools) {
      const folder = await folderOf(tool, batch.version, surroundings);
      const there = await installedIn(folder, tool.name);
      const staged = join(staging, tool.name);
      const got = there === undefined ? await download(tool, batch.version, staged, surroundings, options) : undefined;
      if (there !== undefined) paths.set(tool.name, there);
      else if (got?.ok === true) paths.set(tool.name, await place(staged, folder, tool.name, 'downloaded'));
      else if (got !== undefined) {
        toBuild.push(tool);
        failures.set(tool.name, got);
        if (got.forged === true) options.progress({ subject: options.subject, step: 'warning', detail: got.why });
      }
    }
    for (const [name, path] of await buildLocked(toBuild, batch, staging, failures, surroundings, options)) {
      paths.set(name, path);
    }
    return paths;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Builds run one at a time on a machine, whoever asks: two at once would each take twice as long, and the memory. */
async function buildLocked(
  tools: Tool[],
  batch: Batch,
  staging: string,
  failures: Map<string, Downloaded & { ok: false }>,
  surroundings: Surroundings,
  { subject, ...options }: LockedOptions,
): Promise<Map<string, string>> {
  const [first, ...rest] = tools;
  const paths = new Map<string, string>();
  if (first === undefined) return paths;
  const missing = async (why: string, failed = false) =>
    missingTool(first, batch.version, surroundings.platform, {
      passedOver: batch.passedOver.get(first.name) ?? [],
      download: failures.get(first.name) ?? { why: 'not tried' },
      build: { why, failed, requiredGo: await requiredGo(join(surroundings.modules, first.recipe.module, 'go.mod')) },
    });
  if (batch.version !== first.version && first.recipe.relinkable !== true) {
    throw await missing(`only version ${first.version} can be built`);
  }
  const go = await findGo(first.recipe, surroundings, options.signal);
  if (!go.ok) throw await missing(go.why);
  const { cache } = surroundings;
  await withLock(join(cache.locks, 'build.lock'), { doing: subject, ...options }, async () => {
    const work = { go, tools: [first, ...rest] as const, version: batch.version, folder: staging };
    await build({ ...work, subject: subjectOf(tools, batch.version) }, surroundings, options).catch(
      async (error: unknown) => {
        throw isError(error, 'ToolBuildFailed') ? await missing(messageOf(error), true) : error;
      },
    );
  });
  for (const tool of tools) {
    const folder = await folderOf(tool, batch.version, surroundings);
    paths.set(tool.name, await place(join(staging, tool.name), folder, tool.name, 'built'));
  }
  return paths;
}

/** What a killed process left half-done. Only the holder of the lock of `key` calls this. */
async function clearStaging(staging: string, key: string): Promise<void> {
  const left = await readdir(staging).catch(() => []);
  const ours = left.filter((name) => name.startsWith(`${key}.`));
  await Promise.all(ours.map((name) => rm(join(staging, name), { recursive: true, force: true })));
}

function waitingFor(owner: Owner | undefined): string {
  return owner === undefined ? 'for another process' : `for process ${owner.pid}, which gets ${owner.doing}`;
}
