import { cp, mkdir, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { EspalierError } from '../api/errors.ts';
import { readGoLine } from './go-lines.ts';
import { goEnvironment } from './golang.ts';
import type { ReportProgress } from './progress.ts';
import { secretsInUrls } from './redact.ts';
import { type RunResult, runProgram } from './run.ts';
import type { Surroundings } from './surroundings.ts';
import type { Tool } from './table.ts';
import { versionOf } from './version.ts';

export interface Build {
  go: { path: string; toolchain: string };
  /** Of one module and one stamp, so that Go makes them in one run and compiles what they share once. */
  tools: readonly [Tool, ...Tool[]];
  version: string;
  /** Each program ends up in `<folder>/<name>/<name>`. */
  folder: string;
  subject: string;
}

interface BuildOptions {
  signal?: AbortSignal | undefined;
  progress: ReportProgress;
}

const LIST_MS = 30 * 60_000;
const BUILD_MS = 90 * 60_000;

/** Builds programs from the Go modules of this repository. Nothing there is changed; all that is made is in the cache. */
export async function build(work: Build, surroundings: Surroundings, options: BuildOptions): Promise<void> {
  const temporary = join(work.folder, 'go-tmp');
  const output = join(work.folder, 'go-out');
  await Promise.all([temporary, output].map((folder) => mkdir(folder, { recursive: true })));
  const go = goCommand(work, surroundings, temporary, options);
  const stale = await packagesToCompile(work, go, options);
  await compile(work, go, options, stale, output);
  for (const tool of work.tools) {
    const home = join(work.folder, tool.name);
    await mkdir(home, { recursive: true });
    await rename(
      join(output, work.tools.length === 1 ? tool.name : basename(tool.recipe.package)),
      join(home, tool.name),
    );
    await copyFolders(tool, go, home);
    await mustTell(tool, work.version, join(home, tool.name), options.signal);
  }
}

type GoCommand = (args: string[], timeoutMs: number, onStderrLine?: (line: string) => void) => Promise<string>;

function goCommand(work: Build, surroundings: Surroundings, temporary: string, options: BuildOptions): GoCommand {
  const [{ recipe }] = work.tools;
  const secrets = secretsInUrls(surroundings.env);
  return async (args, timeoutMs, onStderrLine) => {
    const result = await runProgram(work.go.path, {
      args,
      cwd: join(surroundings.modules, recipe.module),
      env: goEnvironment(work.go, recipe, surroundings, temporary),
      timeoutMs,
      signal: options.signal,
      secrets,
      onStderrLine,
    });
    if (result.code !== 0) throw buildFailed(work, args, result);
    return result.stdout;
  };
}

/** Fetches the sources on the way. How many packages are not in the build cache is the measure for the bar. */
async function packagesToCompile(work: Build, go: GoCommand, { progress }: BuildOptions): Promise<number> {
  const { subject } = work;
  let modules = 0;
  const args = ['list', ...flagsOf(work), '-deps', '-f', '{{if .Stale}}{{.ImportPath}}{{end}}', ...packagesOf(work)];
  progress({ subject, step: 'fetching sources' });
  const answer = await go(args, LIST_MS, (text) => {
    const line = readGoLine(text);
    if (line.kind === 'module') progress({ subject, step: 'fetching sources', done: ++modules, detail: line.name });
  });
  return answer.split('\n').filter((line) => line !== '').length;
}

async function compile(work: Build, go: GoCommand, { progress }: BuildOptions, total: number, output: string) {
  const { subject, tools, version } = work;
  const [{ name, recipe }] = tools;
  const stamp = Object.entries(recipe.stamp?.(version) ?? {}).flatMap(([variable, value]) => [
    '-X',
    `${variable}=${value}`,
  ]);
  const target = tools.length === 1 ? join(output, name) : `${output}/`;
  const args = ['build', '-v', ...flagsOf(work), '-ldflags', ['-s', '-w', ...stamp].join(' '), '-o', target];
  let done = 0;
  progress({ subject, step: total > tools.length ? 'compiling' : 'linking', done, total, unit: 'packages' });
  await go([...args, ...packagesOf(work)], BUILD_MS, (text) => {
    const line = readGoLine(text);
    if (line.kind !== 'package') return;
    done = Math.min(done + 1, total);
    // Go names a package when it begins with it, and says nothing while it links
    const step = done === total ? 'linking' : 'compiling';
    progress({ subject, step, done, total, unit: 'packages', detail: line.name });
  });
}

function flagsOf(work: Build): string[] {
  const tags = work.tools[0].recipe.tags ?? [];
  return ['-mod=readonly', '-trimpath', '-buildvcs=false', ...(tags.length === 0 ? [] : ['-tags', tags.join(',')])];
}

function packagesOf(work: Build): string[] {
  return work.tools.map((tool) => tool.recipe.package);
}

async function copyFolders(tool: Tool, go: GoCommand, home: string): Promise<void> {
  const folders = tool.recipe.folders ?? [];
  if (folders.length === 0) return;
  const module = (await go(['list', '-mod=readonly', '-f', '{{.Module.Dir}}', tool.recipe.package], LIST_MS)).trim();
  for (const folder of folders) await cp(join(module, folder), join(home, folder), { recursive: true });
}

async function mustTell(tool: Tool, version: string, path: string, signal: AbortSignal | undefined): Promise<void> {
  const found = await versionOf(path, tool.ask, signal);
  if (found === version) return;
  const message = `${tool.name} was built, but tells version ${found ?? 'none'} and not ${version}`;
  throw new EspalierError('ToolBuildFailed', message, { data: { tool: tool.name }, retry: false });
}

function buildFailed(work: Build, args: string[], { code, stderr }: RunResult): EspalierError {
  const lines = stderr.trimEnd().split('\n');
  const telling = lines.filter((line) => readGoLine(line).kind === 'other');
  const last = telling.slice(-12).join('\n');
  const command = `go ${args[0]} for ${work.subject}`;
  return new EspalierError('ToolBuildFailed', `${command} ended with code ${code}:\n${last}`, { data: { code } });
}
