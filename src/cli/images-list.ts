import { Command } from 'commander';
import type { ImageList, ListedImage } from '../images/list.ts';
import { plain } from '../plan/plain.ts';
import { ExitCode } from './exit.ts';
import { fromImageSource, type ImageSourceFlags, withImageSource } from './image-options.ts';
import { type OutputOptions, withOutput } from './options.ts';
import { painter } from './paint.ts';
import { print, say } from './print.ts';
import { Table } from './table.ts';

interface Flags extends ImageSourceFlags, Omit<OutputOptions, 'output'> {
  output?: 'table' | 'wide' | 'json' | 'plain';
  pulled?: true;
}

const ABOUT = `
Images are those of containers, init and ephemeral containers and image volumes in whatever is rendered, hooks included;
of the fields that spec.images.fields of the Sync names; and what charts list as artifacthub.io/images. They are shown by
the name under which they can be had, and as the cluster pulls them where a rule of spec.images.rewrite or the global
value imageRegistry leads elsewhere.

Examples:
  espalier images list                              this folder, with the settings of the Sync in the cluster
  espalier images list --sync platform -o wide      what the cluster follows
  espalier images list . --offline --settings sync.yaml -o plain

Exit code: 0 all of it is listed, 1 something could not be rendered, 2 failed.`;

export function listCommand(): Command {
  return withOutput(withImageSource(new Command('list')), ['table', 'wide', 'json', 'plain'])
    .description('list every image of every Plugin')
    .option('--pulled', 'with -o plain: as the cluster pulls them')
    .addHelpText('after', ABOUT)
    .action((source: string | undefined, flags: Flags) =>
      fromImageSource(source, flags, async ({ list }) => show(list, flags)),
    );
}

function show(list: ImageList, flags: Flags): void {
  const { images, left, absent, faults } = list;
  if (flags.output === 'json') print(JSON.stringify(list, null, 2));
  else if (flags.output === 'plain') for (const image of plainNames(images, flags.pulled === true)) print(image);
  else for (const line of tableOf(images, flags.output === 'wide')) print(line);
  if (left.length > 0) say(`note: from elsewhere, by no rule: ${left.map(plain).join(', ')}`);
  for (const one of absent) say(`note: ${plain(one)}`);
  for (const fault of faults) say(`✗ ${plain(fault)}`);
  if (faults.length > 0) throw new ExitCode(1);
}

/** For other programs: one name a line, each once. */
function plainNames(images: readonly ListedImage[], pulled: boolean): string[] {
  return [...new Set(images.map((one) => (pulled ? one.pulled : one.image)))].toSorted();
}

function tableOf(images: readonly ListedImage[], wide: boolean): string[] {
  const header = wide ? ['IMAGE', 'PULLED', 'PLUGIN', 'OBJECT', 'FIELD', 'DIGEST'] : ['IMAGE', 'PLUGINS', 'PULLED AS'];
  const rows = images.flatMap((one) => (wide ? wideRows(one) : [row(one)]));
  const cells = [header, ...rows].map((line) => line.map((text) => ({ text: plain(text === '' ? '-' : text) })));
  return new Table({ paint: painter(false) }).lines(cells);
}

function row({ image, pulled, uses }: ListedImage): string[] {
  const plugins = [...new Set(uses.map(({ plugin }) => plugin))];
  return [image, plugins.join(','), pulled === image ? '' : pulled];
}

function wideRows({ image, pulled, uses, digest }: ListedImage): string[][] {
  return uses.map(({ plugin, by, object, path = '' }) => {
    const place = object?.namespace == null ? object?.name : `${object.namespace}/${object.name}`;
    const what = object === undefined ? 'chart annotation' : `${object.kind} ${place}${by === 'hook' ? ' (hook)' : ''}`;
    return [image, pulled === image ? '' : pulled, plugin, what, path, digest ?? ''];
  });
}
