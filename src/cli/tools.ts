import { Argument, Command, Option } from 'commander';
import { EspalierError } from '../api/errors.ts';
import type { ToolName } from '../tools/table.ts';
import type { ToolOptions } from '../tools/tool.ts';
import { interruptible } from './interruptible.ts';

interface OutputOption {
  output?: 'json';
}

/** `espalier tools list | install | path`. Data goes to stdout, progress to stderr. */
export function toolsCommand(): Command {
  const command = new Command('tools').description('list or install the external programs');
  command
    .command('list')
    .description('every program: its version, and where it is or how it would be got')
    .addOption(jsonOption())
    .action(list);
  command
    .command('install')
    .description('download or build programs into the cache; all of them when none is named')
    .addArgument(new Argument('[name...]', 'names as in the list'))
    .addOption(jsonOption())
    .action((names: string[], options: OutputOption) => install(names, options));
  command
    .command('path')
    .description('print where a program is, after getting it if need be')
    .argument('<name>', 'name as in the list')
    .option('--reported-version <version>', 'a Kubernetes program that reports this version')
    .addOption(jsonOption())
    .action((name: string, options: OutputOption & { reportedVersion?: string }) => path(name, options));
  return command;
}

function jsonOption(): Option {
  return new Option('-o, --output <format>', 'output format').choices(['json']);
}

async function list(options: OutputOption): Promise<void> {
  const [{ toolState }, { toolNames }] = await Promise.all([import('../tools/tool.ts'), import('../tools/table.ts')]);
  const states = await Promise.all(toolNames().map((name) => toolState(name)));
  if (options.output === 'json') {
    print(JSON.stringify(states, null, 2));
    return;
  }
  const rows = states.map((tool) => [tool.name, tool.version, tool.state, 'path' in tool ? tool.path : tool.purpose]);
  print(columns([['NAME', 'VERSION', 'STATE', 'PATH OR PURPOSE'], ...rows]));
}

async function install(names: string[], options: OutputOption): Promise<void> {
  const { ensureTools } = await import('../tools/tool.ts');
  const { toolNames } = await import('../tools/table.ts');
  const wanted = names.length === 0 ? toolNames() : await Promise.all(names.map(known));
  await forgetSilence();
  const paths = await interruptible((signal) => ensureTools(wanted, { signal }));
  print(options.output === 'json' ? JSON.stringify(paths, null, 2) : columns(Object.entries(paths)));
}

async function path(name: string, options: OutputOption & { reportedVersion?: string }): Promise<void> {
  const { toolPath } = await import('../tools/tool.ts');
  const wanted = await known(name);
  const version: ToolOptions = options.reportedVersion === undefined ? {} : { version: plain(options.reportedVersion) };
  const found = await interruptible((signal) => toolPath(wanted, { ...version, signal }));
  print(options.output === 'json' ? JSON.stringify({ name: wanted, path: found }) : found);
}

/** Who asks for an install may just have mended the network. */
async function forgetSilence(): Promise<void> {
  const { forgetUnreachable } = await import('../tools/reach.ts');
  const { surroundingsOf } = await import('../tools/surroundings.ts');
  await forgetUnreachable(surroundingsOf().cache);
}

async function known(name: string): Promise<ToolName> {
  const { isToolName, toolNames } = await import('../tools/table.ts');
  if (isToolName(name)) return name;
  throw new EspalierError('InvalidConfiguration', `there is no program "${name}". Known: ${toolNames().join(', ')}`);
}

function plain(version: string): string {
  const number = /^v?(\d+\.\d+\.\d+)$/.exec(version)?.[1];
  if (number !== undefined) return number;
  throw new EspalierError('InvalidConfiguration', `"${version}" is no version like 1.35.2`);
}

function columns(rows: string[][]): string {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows
    .map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(width(column)))).join('  '))
    .join('\n');
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
