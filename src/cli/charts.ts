import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError } from 'commander';
import { addName } from './collect.ts';
import { type OutputOptions, withOutput } from './options.ts';

export interface ChartsBuildFlags extends Omit<OutputOptions, 'output'> {
  to?: string;
  destination?: string;
  jobs: number;
  strict?: true;
  dryRun?: true;
  allowPrivate?: true;
  insecureRegistry?: string[];
  caFile?: string;
  output?: 'json' | 'yaml';
}

const ABOUT = `
Every folder with a Chart.yaml is a chart; charts in a chart's own charts/ belong to it. Each is packed as "helm package" does
it, but always to the same bytes, with the dependencies that its Chart.lock names, and linted by Helm. With --to those that
are sound are pushed, unless the same content is there already. The same version with other content is a fault: bump it.

Logins are those of "docker login": config.json in DOCKER_CONFIG or ~/.docker.

Examples:
  espalier charts build charts/                              into this folder, as helm package
  espalier charts build . --destination dist --strict
  espalier charts build . --to oci://registry.example.com/charts --dry-run
  espalier charts build . --to https://museum.example.com

Exit code: 0 all of them are sound, and there; 1 something is wrong with one or more; 2 failed.`;

/** `espalier charts build`. */
export function chartsCommand(): Command {
  const command = new Command('charts').description('lint, package and push the charts of a tree');
  withOutput(command.command('build').description('lint, package and push every chart of a tree'), ['json', 'yaml'])
    .argument('[folder]', 'the tree', '.')
    .option('--to <url>', 'push to oci://registry/prefix, or to the https:// address of a ChartMuseum')
    .option('-d, --destination <folder>', 'where archives are written (default: this folder; with --to nowhere)')
    .option('--jobs <count>', 'so many at a time', countOf, availableParallelism())
    .option('--strict', 'warnings of the lint are faults too')
    .option('--dry-run', 'write and push nothing: tell what is new')
    .option('--allow-private', 'dependencies may come from private addresses')
    .option('--insecure-registry <host[:port]>', 'a host that speaks plain http; repeatable', addName)
    .option('--ca-file <path>', 'certificates to trust besides the usual ones, in PEM')
    .addHelpText('after', ABOUT)
    .action(async (folder: string, flags: ChartsBuildFlags) =>
      (await import('./charts-build.ts')).build(folder, flags),
    );
  return command;
}

function countOf(text: string): number {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('write a number from 1 to 99');
}
