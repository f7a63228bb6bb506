import { basename, join, resolve } from 'node:path';
import { Command } from 'commander';
import { EspalierError } from '../api/errors.ts';
import type { PackageFault } from '../expansion/fault.ts';
import { ExitCode } from './exit.ts';
import { expansionMergeCommand } from './expansion-merge.ts';
import { type OutputOptions, withColor, withOutput } from './options.ts';
import { formatData } from './output.ts';
import { print, say } from './print.ts';

const EXAMPLES = `
Examples:
  espalier expansion new demo                    a package that passes, to begin with
  espalier expansion check demo                  every fault as file:line:column: message
  espalier expansion build demo -o demo-v1.0.tgz
  espalier expansion show demo-v1.0.tgz`;

interface Options extends OutputOptions {
  output?: 'json' | 'yaml';
}

/** `espalier expansion new | check | build | show | merge`. Data goes to stdout, progress to stderr. */
export function expansionCommand(): Command {
  const command = new Command('expansion')
    .description('make, check, build, show and merge expansion packages')
    .addHelpText('after', EXAMPLES);
  withColor(command.command('new').description('write a package that passes the check'))
    .argument('<folder>', 'a new folder; its name becomes that of the package')
    .action(create);
  withOutput(command.command('check').description('tell all that is wrong with a package'), ['json', 'yaml'])
    .argument('<package>', 'a folder or a .tgz')
    .addHelpText('after', '\nExit code: 0 no faults, 1 faults.')
    .action(check);
  withColor(command.command('build').description('pack a folder: the same files give the same bytes'))
    .argument('<folder>', 'the package')
    .option('-o, --output <file>', 'the .tgz to write (default: <name>-<version>.tgz)')
    .action(build);
  withOutput(command.command('show').description('tell what is in a package'), ['json', 'yaml'])
    .argument('<package>', 'a folder or a .tgz')
    .action(show);
  return command.addCommand(expansionMergeCommand());
}

async function create(folder: string): Promise<void> {
  const name = basename(resolve(folder));
  if (!/^[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?$/.test(name))
    throw new EspalierError(
      'InvalidConfiguration',
      `${name} can't be the name of a package; use lower case letters, digits and -`,
      { retry: false },
    );
  const { newPackage } = await import('../expansion/scaffold.ts');
  for (const path of await newPackage(folder, name)) print(join(folder, path));
}

async function check(path: string, { output }: Options): Promise<void> {
  const [{ checkPackage }, { setFlagsFromString }] = await Promise.all([
    import('../expansion/examine.ts'),
    import('node:v8'),
  ]);
  // What streams by is garbage at once: a small nursery keeps a check of gigabytes under 100 MB.
  setFlagsFromString('--max-semi-space-size=1');
  setFlagsFromString('--semi-space-growth-factor=1');
  const { faults, contents } = await checkPackage(path);
  if (output === undefined) printFaults(path, faults);
  else print(await formatData({ faults }, output));
  say(
    `${contents.files.size} files, ${faults.length === 0 ? 'no faults' : `${faults.length} fault${faults.length === 1 ? '' : 's'}`}`,
  );
  if (faults.length > 0) throw new ExitCode(1);
}

async function build(folder: string, { output }: { output?: string }): Promise<void> {
  const [{ checkPackage }, { buildPackage }, { stat }] = await Promise.all([
    import('../expansion/examine.ts'),
    import('../expansion/build.ts'),
    import('node:fs/promises'),
  ]);
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true)
    throw new EspalierError('InvalidConfiguration', `${folder} is no folder; build packs a folder`, { retry: false });
  const { faults, contents, expansion } = await checkPackage(folder);
  if (faults.length > 0) {
    printFaults(folder, faults);
    throw new ExitCode(1);
  }
  const { expansion_name: name, expansion_version: version } = expansion;
  if (output === undefined && (name === undefined || version === undefined))
    throw new EspalierError('InvalidConfiguration', 'the package has no name and version; say what to write with -o', {
      retry: false,
    });
  const file = output ?? `${name}-${version}.tgz`;
  const { sha256, size } = await buildPackage(folder, contents, file);
  print(`${sha256}  ${file}`);
  say(`${contents.files.size} files, ${size} bytes`);
}

async function show(path: string, { output }: Options): Promise<void> {
  const { checkPackage } = await import('../expansion/examine.ts');
  const { faults, contents, expansion } = await checkPackage(path);
  const files = Object.fromEntries([...contents.files].sort(([a], [b]) => (a < b ? -1 : 1)));
  if (output !== undefined) print(await formatData({ expansion, files, faults }, output));
  else {
    print(await formatData(expansion, 'yaml'));
    print('---');
    for (const [file, { size, sha256 }] of Object.entries(files))
      print(`${sha256}  ${String(size).padStart(12)}  ${file}`);
  }
  if (faults.length === 0) return;
  say(`${faults.length} faults; see espalier expansion check ${path}`);
  throw new ExitCode(1);
}

/** Of a folder as seen from here, so that editors can open it; of an archive as they are in it. */
function printFaults(path: string, faults: readonly PackageFault[]): void {
  const inside =
    path.endsWith('gz') || path.endsWith('.tar')
      ? (file: string) => (file === '.' ? path : file)
      : (file: string) => join(path, file);
  for (const { file, line, column, message } of faults) print(`${inside(file)}:${line}:${column}: ${message}`);
}
