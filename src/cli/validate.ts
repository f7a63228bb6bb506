import { stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Command, Option } from 'commander';
import { EspalierError } from '../api/errors.ts';
import { addLabel } from './collect.ts';
import { counted } from './counted.ts';
import { ExitCode } from './exit.ts';
import { type OutputOptions, withOutput } from './options.ts';
import { formatData } from './output.ts';
import { print, say } from './print.ts';
import type { FoundFault, Validation } from './validate-tree.ts';
import { findViews } from './views.ts';

interface ValidateOptions extends OutputOptions {
  output?: 'json' | 'yaml';
  path: string;
  cluster?: string;
  label: Record<string, string>;
  allClusters?: boolean;
  namespace: string;
}

const EXAMPLES = `
Examples:
  espalier validate                              the repository in this folder, without overlays
  espalier validate --cluster prod-eu --label tier=prod
  espalier validate --all-clusters               with each overlay under clusters/
  espalier validate . --path platform            where the Sync has repository.path: platform

Exit code: 0 no faults, 1 faults.`;

export function validateCommand(): Command {
  const command = new Command('validate')
    .description('check what a repository declares, without a cluster: every fault as file:line:column: message')
    .argument('[folder]', "the repository's root: paths in declarations begin there", '.')
    .option('--path <folder>', "folder in it that holds the declarations: the Sync's repository.path", '.')
    .option('--cluster <name>', 'also the overlay clusters/<name>/')
    .addOption(
      new Option('--label <key=value>', 'a label of the cluster: also clusters/_<key>=<value>/; may be repeated')
        .argParser(addLabel)
        .default({}, 'none'),
    )
    .option('--all-clusters', 'every overlay under clusters/, one after the other')
    .option('-n, --namespace <name>', "the Sync's namespace, for declarations that say none", 'espalier-system')
    .addHelpText('after', EXAMPLES);
  return withOutput(command, ['json', 'yaml']).action(validate);
}

async function validate(folder: string, options: ValidateOptions): Promise<void> {
  await mustBeFolder(folder, 'the repository');
  await mustBeFolder(join(folder, options.path), '--path');
  const [{ folderTree }, { validateTree }] = await Promise.all([
    import('../git/foldertree.ts'),
    import('./validate-tree.ts'),
  ]);
  const tree = folderTree(folder);
  const { views, unknown } = await findViews(tree, options.path, options);
  for (const overlay of unknown) say(`note: there is no folder ${overlay}: nothing differs there`);
  const found = await validateTree(tree, views, options);
  if (options.output !== undefined) print(await formatData(found, options.output));
  else for (const fault of found.faults) print(lineOf(fault, folder));
  if (found.faults.some(({ code }) => code === 'SourceMissing')) {
    say(`note: paths in declarations begin at the root of the repository, here ${folder}`);
  }
  say(summaryOf(found));
  if (Object.keys(found.counts).length === 0 && found.faults.length === 0) {
    say('Nothing is declared here. Is it the right folder? See --path');
  }
  if (found.faults.length > 0) throw new ExitCode(1);
}

async function mustBeFolder(folder: string, what: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  const message = `${what}: ${folder} ${found === undefined ? 'does not exist' : 'is not a folder'}`;
  throw new EspalierError('InvalidConfiguration', message, { retry: false });
}

/** With the path as seen from here, so that editors and terminals can open it. */
function lineOf(fault: FoundFault, folder: string): string {
  const file = relative('.', join(folder, fault.file));
  const about = fault.object === undefined ? '' : `${fault.object}: `;
  const overlay = fault.overlay === undefined ? '' : ` (with clusters/${fault.overlay})`;
  return `${file}:${fault.line}:${fault.column}: ${about}${fault.message}${overlay}`;
}

/** `12 plugins, 1 sync, no faults` */
function summaryOf({ counts, faults }: Validation): string {
  const { Plugin: plugins = 0, ...others } = counts;
  const parts = [
    counted(plugins, 'plugin'),
    ...Object.entries(others).map(([kind, n]) => counted(n, kind.toLowerCase())),
  ];
  const files = new Set(faults.map(({ file }) => file)).size;
  const ending = faults.length === 0 ? 'no faults' : `${counted(faults.length, 'fault')} in ${counted(files, 'file')}`;
  return [...parts, ending].join(', ');
}
