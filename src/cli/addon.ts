import { Command } from 'commander';
import { addName } from './collect.ts';
import { type OutputOptions, withColor, withOutput } from './options.ts';

const EXAMPLES = `
Examples:
  espalier addon check manifests/vip                     every fault as file:line:column: message
  espalier addon show manifests/vip                      its parameters, files and objects
  espalier addon to-chart manifests/vip -o charts/vip    a Helm chart that renders the same objects
  espalier addon to-chart manifests/vip -o charts/vip --check`;

export interface AddonFlags extends Omit<OutputOptions, 'output'> {
  output?: string;
  values?: string[];
  chartVersion: string;
  check?: true;
}

/** `espalier addon check | show | to-chart`. Data goes to stdout, progress to stderr. */
export function addonCommand(): Command {
  const command = new Command('addon')
    .description('check and show manifest add-ons, and port them to Helm charts')
    .addHelpText('after', EXAMPLES);
  withOutput(command.command('check').description('tell all that is wrong with an add-on'), ['json', 'yaml'])
    .argument('<folder>', 'the add-on')
    .option('--values <file>', 'render it with these values too; repeatable', addName)
    .addHelpText('after', '\nExit code: 0 no faults, 1 faults.')
    .action(async (folder: string, flags: AddonFlags) => (await import('./addon-check.ts')).checkAddon(folder, flags));
  withOutput(command.command('show').description('tell what an add-on is and takes'), ['json', 'yaml'])
    .argument('<folder>', 'the add-on')
    .action(async (folder: string, flags: AddonFlags) => (await import('./addon-show.ts')).showAddon(folder, flags));
  withColor(command.command('to-chart').description('make a Helm chart of an add-on that renders the same objects'))
    .argument('<folder>', 'the add-on')
    .option('-o, --output <folder>', 'the chart to write: a new or empty folder (default: charts/<name>)')
    .option('--chart-version <version>', 'version of the chart', '0.1.0')
    .option('--values <file>', 'compare with these values too; repeatable', addName)
    .option('--check', 'write nothing: tell whether the chart that is there still renders the same')
    .addHelpText(
      'after',
      '\nAdd-on and chart are rendered with the defaults, with other parameters that the schema allows, and with each file of --values.\nWhere an object differs nothing is written.\n\nExit code: 0 the same objects, 1 not, or faults.',
    )
    .action(async (folder: string, flags: AddonFlags) => (await import('./addon-to-chart.ts')).toChart(folder, flags));
  return command;
}
