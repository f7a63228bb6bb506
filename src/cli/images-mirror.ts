import { Command } from 'commander';
import { EspalierError } from '../api/errors.ts';
import { ExitCode } from './exit.ts';
import { fromImageSource, type ImageSourceFlags, withImageSource } from './image-options.ts';
import { interruptible } from './interruptible.ts';
import { type OutputOptions, withOutput } from './options.ts';

export interface MirrorFlags extends ImageSourceFlags, Omit<OutputOptions, 'output'> {
  to?: string;
  charts?: string | true;
  toArchive?: string;
  fromArchive?: string;
  platform?: string;
  dryRun?: true;
  parallel: number;
  timeout: string;
  caFile?: string;
  output?: 'json';
}

const ABOUT = `
Copies every image that "espalier images list" shows to where the cluster is to pull it from: to where the rules of
spec.images.rewrite and the global value imageRegistry lead. What they don't lead to the registry of --to goes to
<to>/<registry>/<name>, and the rules that would make the cluster pull it there are printed. Without --to only what rules
lead elsewhere is copied. What is there already is not copied again, so a run that was cut off goes on with the next one.

Logins are those of "docker login": config.json in DOCKER_CONFIG or ~/.docker.

Examples:
  espalier images mirror --sync platform --to harbor.local/mirror --dry-run
  espalier images mirror . --offline --settings sync.yaml --to harbor.local --charts
  espalier images mirror --sync platform --charts --to-archive images.tar
  espalier images mirror --from-archive images.tar --to harbor.local --charts https://museum.local

Exit code: 0 all of it is there, 1 something is not (with --dry-run: something would be copied), 2 failed.`;

export function mirrorCommand(): Command {
  return withOutput(withImageSource(new Command('mirror')), ['json'])
    .description('copy every image to a registry, or across an air gap in an archive')
    .option('--to <registry[/prefix]>', 'where images go that no rule of the Sync leads elsewhere')
    .option('--charts [url]', 'charts too: to oci://registry/prefix or a ChartMuseum (default: oci://<to>/charts)')
    .option('--to-archive <path>', 'into an OCI layout: a folder, or a file that ends in .tar')
    .option('--from-archive <path>', 'from such a folder or file, in place of registries')
    .option('--platform <os/arch>', 'of images for several platforms only this one; what is pinned stays whole')
    .option('--dry-run', 'copy nothing: show what is missing')
    .option('--parallel <count>', 'so many at a time', countOf, 8)
    .option('--timeout <duration>', 'for one image', '30m')
    .option('--ca-file <path>', 'certificates to trust besides the usual ones, in PEM')
    .addHelpText('after', ABOUT)
    .action(mirror);
}

async function mirror(source: string | undefined, flags: MirrorFlags): Promise<void> {
  check(source, flags);
  const { mirrorArchive, mirrorSource } = await import('./mirror-run.ts');
  const { fromArchive } = flags;
  const isWhole = await interruptible((signal) =>
    fromArchive === undefined
      ? fromImageSource(source, flags, (found) => mirrorSource(found, flags, signal), signal)
      : mirrorArchive(fromArchive, flags, signal),
  );
  if (!isWhole) throw new ExitCode(1);
}

function check(
  source: string | undefined,
  { to, toArchive, fromArchive, charts, sync, offline, platform }: MirrorFlags,
): void {
  if (toArchive !== undefined && fromArchive !== undefined)
    throw wrong('give --to-archive or --from-archive, not both');
  if (toArchive !== undefined && to !== undefined)
    throw wrong('--to-archive takes no --to: where images go is said when they leave the archive');
  if (toArchive !== undefined && typeof charts === 'string')
    throw wrong('with --to-archive charts go into it too: write --charts alone');
  if (fromArchive !== undefined && source !== undefined)
    throw wrong(`--from-archive takes all that is in the archive: what would "${source}" have to do with it?`);
  if (fromArchive !== undefined && to === undefined && sync === undefined && offline === undefined)
    throw wrong('--from-archive needs --to <registry[/prefix]>');
  if (charts === true && to === undefined && toArchive === undefined)
    throw wrong('--charts without a URL goes to oci://<to>/charts: give --to, or the URL');
  if (to !== undefined && !isRegistry(to))
    throw wrong(`--to "${to}" is no registry: write registry.example.com, with a port and a prefix where it has them`);
  if (platform !== undefined && !/^[a-z0-9]+\/[a-z0-9_]+(\/[a-z0-9]+)?$/.test(platform))
    throw wrong(`--platform "${platform}" is none: write linux/amd64`);
}

/** `registry.example.com:5000/prefix` */
export function isRegistry(text: string): boolean {
  return /^[\w.-]+(:\d+)?(\/[a-z0-9._/-]+)?$/.test(text) && /[.:]|^localhost/.test(text.split('/')[0] ?? '');
}

function countOf(text: string): number {
  const count = /^[1-9]\d?$/.test(text) ? Number(text) : 0;
  if (count === 0) throw wrong(`--parallel ${text}: write a number from 1 to 99`);
  return count;
}

function wrong(message: string): EspalierError {
  return new EspalierError('InvalidConfiguration', message, { retry: false });
}
