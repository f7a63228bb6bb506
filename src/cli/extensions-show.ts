import { EspalierError } from '../api/errors.ts';
import type { Extension } from '../api/index.ts';
import { suggest } from '../api/validate/suggest.ts';
import { plain } from '../plan/plain.ts';
import { extensionData, text } from './extensions-list.ts';
import { type Catalogue, withTags } from './known-catalogue.ts';
import { type OutputOptions, wantsColor } from './options.ts';
import { formatData } from './output.ts';
import { type Paint, painter } from './paint.ts';
import { parameterRows } from './parameter-rows.ts';
import { print } from './print.ts';
import { type Cell, Table } from './table.ts';
import { type CatalogueFlags, withCatalogue } from './with-catalogue.ts';

interface ShowFlags extends CatalogueFlags, Omit<OutputOptions, 'output'> {
  output?: 'text' | 'json' | 'yaml';
}

export async function showExtension(name: string, flags: ShowFlags): Promise<void> {
  await withCatalogue(flags, false, async ({ catalogue: read }) => {
    const catalogue = await withTags(read, [name]);
    const extension = extensionNamed(catalogue, name);
    const { output } = flags;
    if (output !== 'json' && output !== 'yaml')
      return print(described(catalogue, extension, painter(wantsColor(flags))));
    const data = { ...extensionData(catalogue, extension), parameters: extension.spec.parameters };
    print(await formatData(data, output));
  });
}

/** Refuses a name that the catalogue does not have, with the one that may be meant. */
export function extensionNamed({ extensions }: Catalogue, name: string): Extension {
  const found = extensions.get(name);
  if (found !== undefined) return found;
  const meant = suggest(name, [...extensions.keys()]);
  const hint =
    extensions.size === 0
      ? 'there are none at all'
      : meant === undefined
        ? 'see espalier extensions list'
        : `did you mean ${plain(meant)}?`;
  throw new EspalierError('InvalidConfiguration', `there is no extension "${plain(name)}"; ${hint}`, { retry: false });
}

const CLASSES: Readonly<Record<string, string>> = {
  default: 'default: on every cluster that it is for',
  accessible: 'accessible: on request',
  custom: 'custom: brought by a customer',
  system: "system: built in, can't be removed",
};

function described(catalogue: Catalogue, extension: Extension, paint: Paint): string {
  const data = extensionData(catalogue, extension);
  const title = data.displayName === undefined ? data.name : `${data.displayName} (${data.name})`;
  const facts = [
    CLASSES[data.class] ?? data.class,
    ...(data.category === undefined ? [] : [`category: ${data.category}`]),
    ...(data.dependsOn === undefined ? [] : [`needs: ${data.dependsOn.join(', ')}`]),
  ];
  const description = (data.description ?? '').split('\n').map(plain).join('\n').trim();
  const head = [paint('bold', plain(title)), ...facts.map(plain), ...(description === '' ? [] : ['', description])];
  const isKnown = data.kubernetes !== undefined;
  const versions = data.versions.map(({ version, kubernetes, fits, from, deprecated }): Cell[] => [
    text(version),
    text(kubernetes ?? 'every one'),
    isKnown ? { text: fits ? 'yes' : 'no', colour: fits ? 'green' : 'dim' } : { text: '?' },
    text(from),
    deprecated === undefined ? text(undefined) : { text: `deprecated: ${plain(deprecated)}`, colour: 'yellow' },
  ]);
  const fitting = isKnown ? `FITS ${plain(data.kubernetes ?? '')}` : 'FITS';
  const parameters = parameterRows(extension.spec.parameters).map((row) =>
    [row.name, row.type, row.default, row.allowed, row.description].map(text),
  );
  const instances = data.instances.map(({ namespace, name, wanted, version, why, next, implied }): Cell[] => {
    const waits = next === undefined ? '' : `; ${next.version} waits: ${next.waitsFor}`;
    const reason = `${why ?? (implied ? `by its class, ${data.class}` : '')}${waits}`;
    return [`${namespace}/${name}`, wanted, version, reason].map(text);
  });
  return [
    head.join('\n'),
    section(paint, 'Versions', ['VERSION', 'KUBERNETES', fitting, 'FROM', 'NOTE'], versions),
    ...(data.unknown === undefined ? [] : [`There may be more: ${plain(data.unknown)}.`]),
    section(paint, 'Parameters', ['NAME', 'TYPE', 'DEFAULT', 'ALLOWED', 'DESCRIPTION'], parameters),
    section(paint, 'Instances', ['INSTANCE', 'WANTED', 'VERSION', 'WHY'], instances),
  ].join('\n\n');
}

function section(paint: Paint, title: string, heads: readonly string[], rows: readonly Cell[][]): string {
  if (rows.length === 0) return `${paint('bold', title)}\n  none`;
  const lines = new Table({ paint }).lines([heads.map((head) => ({ text: head })), ...rows]);
  return [paint('bold', title), ...lines.map((line) => `  ${line}`)].join('\n');
}
