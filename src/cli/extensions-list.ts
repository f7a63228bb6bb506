import type { Extension } from '../api/index.ts';
import { plain } from '../plan/plain.ts';
import {
  type Catalogue,
  installedOf,
  instancesOf,
  keyOfInstance,
  newestOf,
  versionsOf,
  withTags,
} from './known-catalogue.ts';
import { type OutputOptions, wantsColor } from './options.ts';
import { formatData } from './output.ts';
import { painter } from './paint.ts';
import { print, say } from './print.ts';
import { type Cell, Table } from './table.ts';
import { type CatalogueFlags, withCatalogue } from './with-catalogue.ts';

interface ListFlags extends CatalogueFlags, Omit<OutputOptions, 'output'> {
  class?: string;
  category?: string;
  output?: 'table' | 'wide' | 'json' | 'yaml' | 'name';
}

export async function listExtensions(flags: ListFlags): Promise<void> {
  await withCatalogue(flags, false, async ({ catalogue: read, repository }) => {
    const catalogue = await withTags(read, [...read.extensions.keys()]);
    const all = [...catalogue.extensions.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    const category = flags.category?.toLowerCase();
    const chosen = all.filter(
      ({ spec }) =>
        (flags.class === undefined || spec.class === flags.class) &&
        (category === undefined || spec.category?.toLowerCase() === category),
    );
    const { output } = flags;
    if (output === 'json' || output === 'yaml')
      return print(
        await formatData(
          chosen.map((extension) => extensionData(catalogue, extension)),
          output,
        ),
      );
    if (output === 'name') {
      if (chosen.length > 0) print(chosen.map(({ metadata }) => `extension.espalier.dev/${metadata.name}`).join('\n'));
      return;
    }
    if (chosen.length > 0) return print(tableOf(catalogue, chosen, flags));
    const where = repository === undefined ? 'the cluster' : repository.source;
    say(all.length === 0 ? `no extensions in ${plain(where)}` : `none of ${all.length} extensions is like that`);
  });
}

/** One extension for other programs; `show` has more of it. */
export function extensionData(catalogue: Catalogue, extension: Extension) {
  const { metadata, spec } = extension;
  const { all, unknown } = versionsOf(catalogue, extension);
  const isKnown = catalogue.kubernetes !== undefined;
  return {
    name: metadata.name,
    ...{ displayName: spec.displayName, class: spec.class, category: spec.category, description: spec.description },
    kubernetes: catalogue.kubernetes,
    newest: isKnown ? newestOf({ all, unknown }) : undefined,
    versions: all.map(({ app, kubernetes, fits, from, deprecated }) => ({
      version: app,
      kubernetes,
      fits: isKnown ? fits : undefined,
      ...{ from, deprecated },
    })),
    unknown,
    dependsOn: spec.dependsOn,
    instances: instancesOf(catalogue, metadata.name).map(({ object, isImplied, parts }) => ({
      namespace: object.metadata.namespace,
      name: object.metadata.name,
      wanted: object.spec.version,
      version: object.status?.version ?? installedOf(catalogue, keyOfInstance(object))?.version,
      why: object.status?.why,
      next: object.status?.next,
      implied: isImplied || undefined,
      files: parts.length === 0 ? undefined : parts.map(({ file }) => file),
    })),
  };
}

type Data = ReturnType<typeof extensionData>;

function tableOf(catalogue: Catalogue, extensions: readonly Extension[], flags: ListFlags): string {
  const isWide = flags.output === 'wide';
  const titles = ['NAME', 'CLASS', 'CATEGORY', 'NEWEST', ...(isWide ? ['VERSIONS', 'TITLE'] : []), 'INSTALLED'];
  const rows = extensions.map((extension): Cell[] => {
    const data = extensionData(catalogue, extension);
    const isSystem = data.class === 'system';
    const wide = isWide ? [text(versionsText(data)), text(data.displayName)] : [];
    return [
      text(data.name),
      // What can't be removed is told apart at a glance.
      { text: data.class, ...(isSystem ? { colour: 'cyan' as const } : {}) },
      text(data.category),
      newestCell(data),
      ...wide,
      text(data.instances.map(installedText).join(', ')),
    ];
  });
  const width = isWide ? undefined : process.stdout.columns;
  const table = new Table({ paint: painter(wantsColor(flags)), ...(width === undefined ? {} : { width }) });
  return table.lines([titles.map((title) => ({ text: title })), ...rows]).join('\n');
}

function newestCell({ newest, kubernetes, unknown }: Data): Cell {
  if (newest !== undefined) return text(newest);
  if (kubernetes === undefined || unknown !== undefined) return { text: '?' };
  return { text: 'none fits', colour: 'yellow' };
}

function versionsText({ versions, kubernetes }: Data): string {
  const fitting = versions.filter(({ fits }) => kubernetes === undefined || fits);
  return fitting.map(({ version, deprecated }) => (deprecated === undefined ? version : `${version} (old)`)).join(', ');
}

/** `team/web v1.2.0`, with what waits. */
export function installedText({ namespace, name, version, next }: Data['instances'][number]): string {
  const waiting = next === undefined ? '' : ` (${next.version} waits)`;
  return `${namespace}/${name}${version === undefined ? '' : ` ${version}`}${waiting}`;
}

export function text(value: string | undefined): Cell {
  return { text: value === undefined || value === '' ? '-' : plain(value) };
}
