import type { Answer, Plugin, Sync } from '../api/index.ts';
import { CONDITION, LABEL } from '../api/names.ts';
import { plain } from '../plan/plain.ts';
import { ageOf } from './age.ts';
import type { Colour } from './paint.ts';
import { conditionOf, isSync, type Ours, shortCommit, whyOf } from './standing.ts';
import type { Cell } from './table.ts';
import { shown, type TargetKind } from './target.ts';

export interface ColumnOptions {
  /** Both kinds stand in one list, so names say which is which. */
  mixed: boolean;
  wide: boolean;
  namespaces: boolean;
  /** Milliseconds, for ages. */
  now: number;
}

interface Column<T> {
  title: string;
  wide?: true;
  cell(object: T, now: number): Cell;
}

const NONE = '-';
const READY: Column<Ours> = { title: 'READY', cell: (object) => readyCell(conditionOf(object, CONDITION.Ready)) };
const AGE: Column<Ours> = { title: 'AGE', cell: ({ metadata }, now) => text(ageOf(metadata.creationTimestamp, now)) };
const WHY: Column<Ours> = { title: 'WHY', cell: (object) => text(whyOf(object)) };
const PHASE: Column<Ours> = { title: 'PHASE', wide: true, cell: ({ status }) => text(status?.phase) };

const SYNC_COLUMNS: readonly Column<Sync>[] = [
  READY,
  { title: 'COMMIT', cell: ({ status }) => text(shortCommit(status?.commit)) },
  {
    title: 'PLUGINS',
    cell: ({ status }) => text(status?.plugins && `${status.plugins.ready}/${status.plugins.total}`),
  },
  AGE,
  PHASE,
  { title: 'REF', wide: true, cell: ({ status }) => text(status?.observed?.ref) },
  { title: 'STATUSES', wide: true, cell: ({ status }) => text(statusesOf(status?.answers?.[0])) },
  { title: 'URL', wide: true, cell: ({ spec }) => text(spec.repository.url) },
  WHY,
];

const PLUGIN_COLUMNS: readonly Column<Plugin>[] = [
  { title: 'VERSION', cell: ({ status }) => text(status?.revision?.version) },
  READY,
  { title: 'DRIFT', cell: (plugin) => driftCell(conditionOf(plugin, CONDITION.Drifted)) },
  { title: 'CLASS', cell: ({ metadata }) => text(metadata.labels?.[LABEL.class]) },
  AGE,
  PHASE,
  { title: 'KIND', wide: true, cell: ({ spec }) => text(spec.kind) },
  { title: 'COMMIT', wide: true, cell: ({ status }) => text(shortCommit(status?.revision?.commit)) },
  { title: 'SYNC', wide: true, cell: (plugin) => text(originOf(plugin)) },
  WHY,
];

const COMMON_COLUMNS: readonly Column<Ours>[] = [READY, AGE, WHY];

/** The first line of a table; `undefined` is that of a table of both kinds. */
export function headerOf(kind: TargetKind | undefined, options: ColumnOptions): Cell[] {
  const columns = kind === 'Sync' ? SYNC_COLUMNS : kind === 'Plugin' ? PLUGIN_COLUMNS : COMMON_COLUMNS;
  const titles = columns.filter(({ wide }) => wide !== true || options.wide).map(({ title }) => title);
  return [...(options.namespaces ? ['NAMESPACE'] : []), 'NAME', ...titles].map((title) => ({ text: title }));
}

/** One object under the header of its kind, or under that of both. */
export function rowOf(object: Ours, options: ColumnOptions & { common?: boolean }): Cell[] {
  const cells = options.common
    ? cellsOf(COMMON_COLUMNS, object, options)
    : isSync(object)
      ? cellsOf(SYNC_COLUMNS, object, options)
      : cellsOf(PLUGIN_COLUMNS, object, options);
  const { name, namespace } = object.metadata;
  return [
    ...(options.namespaces ? [text(namespace)] : []),
    text(options.mixed ? shown({ ...object, name }) : name),
    ...cells,
  ];
}

function cellsOf<T extends Ours>(columns: readonly Column<T>[], object: T, options: ColumnOptions): Cell[] {
  return columns.filter(({ wide }) => wide !== true || options.wide).map((column) => column.cell(object, options.now));
}

/** What the newest commit was told on the forge, by context; Plugins have rows of their own. */
function statusesOf(answer: Answer | undefined): string | undefined {
  const told = (answer?.statuses ?? []).filter(({ sent, context }) => sent && !/\/plugin\//.test(context));
  return told.map(({ context, state }) => `${context}: ${state}`).join(', ');
}

function text(value: string | undefined): Cell {
  return { text: value === undefined || value === '' ? NONE : plain(value) };
}

function readyCell(status: string | undefined): Cell {
  const colours: Record<string, Colour> = { True: 'green', False: 'red' };
  return { text: status ?? 'Unknown', colour: colours[status ?? ''] ?? 'yellow' };
}

function driftCell(status: string | undefined): Cell {
  return status === 'True' ? { text: status, colour: 'yellow' } : text(status);
}

/** The Sync that wrote it, or the Plugin that it is nested in. */
function originOf({ metadata: { labels } }: Plugin): string | undefined {
  const parent = labels?.[LABEL.plugin];
  return parent === undefined ? labels?.[LABEL.sync] : `plugin/${parent}`;
}
