import { headerOf, rowOf } from './columns.ts';
import { columnOptions, type GetOptions, tableFor } from './get-options.ts';
import type { GetRequest } from './get-request.ts';
import { type DataFormat, formatObjects } from './output.ts';
import { print } from './print.ts';
import type { Ours } from './standing.ts';
import type { Cell } from './table.ts';

/** Prints objects one by one as they come and change. */
export interface ChangePrinter {
  changed(objects: readonly Ours[]): void;
  /** Of an object that is gone, a watch may know no more than the name. */
  deleted(object: Ours): void;
}

export function keyOf({ kind, metadata: { namespace = '', name } }: Ours): string {
  return `${kind}/${namespace}/${name}`;
}

/** Rows of one growing table. A change that the table would not show prints nothing. */
export function rowPrinter(request: GetRequest, options: GetOptions): ChangePrinter {
  const table = tableFor(options);
  const common = request.kinds.length > 1;
  const last = new Map<string, { text: string; row: Cell[] }>();
  let headed = false;

  function printRows(rows: Cell[][]): void {
    if (rows.length === 0) return;
    const header = headerOf(common ? undefined : request.kinds[0], columnOptions(request, options));
    for (const line of table.lines(headed ? rows : [header, ...rows])) print(line);
    headed = true;
  }

  return {
    changed(objects) {
      const columns = { ...columnOptions(request, options), common };
      const news: Cell[][] = [];
      for (const object of objects) {
        const row = rowOf(object, columns);
        const text = JSON.stringify(rowOf(object, { ...columns, now: 0 }));
        if (last.get(keyOf(object))?.text !== text) news.push(row);
        last.set(keyOf(object), { text, row });
      }
      printRows(news);
    },
    deleted(object) {
      const known = last.get(keyOf(object));
      last.delete(keyOf(object));
      if (known !== undefined) printRows([[...known.row.slice(0, -1), { text: 'deleted' }]]);
    },
  };
}

/** One document after the other, in the order of events. */
export function documentPrinter(format: DataFormat): ChangePrinter {
  let printing: Promise<void> = Promise.resolve();
  const changed = (objects: readonly Ours[]): void => {
    printing = printing.then(async () => {
      for (const object of objects) {
        const text = await formatObjects([object], format, { single: true });
        print(format === 'yaml' ? `---\n${text}` : text);
      }
    });
  };
  return { changed, deleted: (object) => changed([object]) };
}
