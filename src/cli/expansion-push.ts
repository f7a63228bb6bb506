import { Command, Option } from 'commander';
import { EspalierError } from '../api/errors.ts';
import { ExitCode } from './exit.ts';
import { PACKAGE_ARGUMENT, withRegistry } from './expansion-place.ts';
import { isRegistry } from './images-mirror.ts';
import { interruptible } from './interruptible.ts';
import type { WireFlags } from './mirror-tools.ts';
import { withColor } from './options.ts';

export interface PushFlags extends WireFlags {
  charts?: string;
  images?: string;
  package?: string;
  dryRun?: true;
  output?: 'json';
}

const ABOUT = `
Brings what is in a package to where a cluster has it from. --charts: a registry, each chart below it by its name, or a
ChartMuseum. --images: the images of images.tar.gz, docker-archive or OCI layout, below a registry by their names without
their own registry. --package: the whole package as an OCI artifact, with its version as tag where none is given.

A package with faults is refused before anything is pushed. What is there is not pushed again: after a failure, or killed,
the same command goes on. Logins are those of "docker login": config.json in DOCKER_CONFIG or ~/.docker.

Examples:
  espalier expansion push demo --charts oci://harbor.local/charts --images harbor.local/platform
  espalier expansion push demo-v1.0.tgz --charts https://museum.local --dry-run
  espalier expansion push demo --package oci://harbor.local/expansions/demo

Exit code: 0 all of it is there, 1 something is not, or the package has faults (with --dry-run: something would be pushed),
2 failed.`;

export function expansionPushCommand(): Command {
  return withColor(withRegistry(new Command('push')))
    .description('push charts, images and the package itself to registries')
    .argument('<package>', PACKAGE_ARGUMENT)
    .option('--charts <url>', 'charts: to oci://registry/prefix or a ChartMuseum')
    .option('--images <registry[/prefix]>', 'images, tagged for this registry')
    .option('--package <url>', 'the package: to oci://registry/path, with :tag where it is not the version')
    .option('--dry-run', 'push nothing: show what is missing')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['json']))
    .addHelpText('after', ABOUT)
    .action(push);
}

async function push(location: string, flags: PushFlags): Promise<void> {
  const { charts, images } = flags;
  if (charts === undefined && images === undefined && flags.package === undefined)
    throw wrong('say what to push, and where to: --charts, --images, --package');
  if (images !== undefined && !isRegistry(images))
    throw wrong(`--images "${images}" is no registry: write registry.example.com, with a port and a prefix`);
  const { pushMaterials } = await import('./expansion-push-run.ts');
  if (!(await interruptible((signal) => pushMaterials(location, flags, signal)))) throw new ExitCode(1);
}

function wrong(message: string): EspalierError {
  return new EspalierError('InvalidConfiguration', message, { retry: false });
}
