import { basename, join, resolve, sep } from 'node:path';
import { Command } from 'commander';
import { EspalierError } from '../api/errors.ts';
import type { Checked } from '../expansion/examine.ts';
import { plain } from '../plan/plain.ts';
import { counted } from './counted.ts';
import { ExitCode } from './exit.ts';
import { printFaults } from './expansion-faults.ts';
import { expansionMergeCommand } from './expansion-merge.ts';
import { PACKAGE_ARGUMENT, withMembers, withRegistry } from './expansion-place.ts';
import { expansionPushCommand } from './expansion-push.ts';
import { expansionTestCommand } from './expansion-test.ts';
import { interruptible } from './interruptible.ts';
import type { WireFlags } from './mirror-tools.ts';
import { type OutputOptions, withColor, withOutput } from './options.ts';
import { formatData } from './output.ts';
import { print, say } from './print.ts';

const EXAMPLES = `
Examples:
  espalier expansion new demo                    a package that passes, to begin with
  espalier expansion check demo                  every fault as file:line:column: message
  espalier expansion build demo -o demo-v1.0.tgz
  espalier expansion show demo-v1.0.tgz
  espalier expansion test demo-v1.0.tgz          install it on a private control plane
  espalier expansion push demo --package oci://harbor.local/expansions/demo`;

interface Options extends OutputOptions, WireFlags {
  output?: 'json' | 'yaml';
}

/** `espalier expansion new | check | build | show | test | merge | push`. Data goes to stdout, progress to stderr. */
export function expansionCommand(): Command {
  const command = new Command('expansion')
    .description('make, check, build, show, test, merge and push expansion packages')
    .addHelpText('after', EXAMPLES);
  withColor(command.command('new').description('write a package that passes the check'))
    .argument('<folder>', 'a new folder; its name becomes that of the package')
    .action(create);
  const reads = (name: string) => withOutput(withRegistry(command.command(name)), ['json', 'yaml']);
  reads('check')
    .description('tell all that is wrong with a package')
    .argument('<package>', PACKAGE_ARGUMENT)
    .addHelpText('after', '\nExit code: 0 no faults, 1 faults.')
    .action(check);
  withColor(command.command('build').description('pack a folder: the same files give the same bytes'))
    .argument('<folder>', 'the package')
    .option('-o, --output <file>', 'the .tgz to write (default: <name>-<version>.tgz)')
    .action(build);
  reads('show').description('tell what is in a package').argument('<package>', PACKAGE_ARGUMENT).action(show);
  return command
    .addCommand(expansionTestCommand())
    .addCommand(expansionMergeCommand())
    .addCommand(expansionPushCommand());
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

async function check(path: string, flags: Options): Promise<void> {
  const { output } = flags;
  const { faults, contents } = await checked(path, flags);
  if (output === undefined) printFaults(path, faults);
  else print(await formatData({ faults }, output));
  say(
    `${counted(contents.files.size, 'file')}, ${faults.length === 0 ? 'no faults' : counted(faults.length, 'fault')}`,
  );
  if (faults.length > 0) throw new ExitCode(1);
}

async function build(folder: string, { output }: { output?: string }): Promise<void> {
  const [{ buildPackage }, { withLittleMemory }, { stat }] = await Promise.all([
    import('../expansion/build.ts'),
    import('./expansion-memory.ts'),
    import('node:fs/promises'),
  ]);
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true)
    throw new EspalierError('InvalidConfiguration', `${folder} is no folder; build packs a folder`, { retry: false });
  const { faults, contents, expansion } = await checked(folder, {});
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
  if (resolve(file).startsWith(`${resolve(folder)}${sep}`))
    throw new EspalierError(
      'InvalidConfiguration',
      `${file} would be in the package itself; write it elsewhere: -o ${join('..', basename(file))}`,
      { retry: false },
    );
  const { sha256, size } = await interruptible((signal) =>
    withLittleMemory(() => buildPackage(folder, contents, file, signal)),
  );
  print(`${sha256}  ${file}`);
  say(`${counted(contents.files.size, 'file')}, ${size} bytes`);
}

async function show(path: string, flags: Options): Promise<void> {
  const { output } = flags;
  const { faults, contents, expansion } = await checked(path, flags);
  const files = Object.fromEntries([...contents.files].sort(([a], [b]) => (a < b ? -1 : 1)));
  if (output !== undefined) print(await formatData({ expansion, files, faults }, output));
  else {
    print(await formatData(expansion, 'yaml'));
    print('---');
    for (const [file, { size, sha256 }] of Object.entries(files))
      print(`${sha256}  ${String(size).padStart(12)}  ${plain(file)}`);
  }
  if (faults.length === 0) return;
  say(`${counted(faults.length, 'fault')}; see espalier expansion check ${path}`);
  throw new ExitCode(1);
}

async function checked(path: string, flags: WireFlags): Promise<Checked> {
  const [{ checkPackage }, { withLittleMemory }] = await Promise.all([
    import('../expansion/examine.ts'),
    import('./expansion-memory.ts'),
  ]);
  return await withMembers(path, flags, (members) =>
    withLittleMemory(() => checkPackage(path, { members: members() })),
  );
}
