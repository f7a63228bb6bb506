import type { Colour, Paint } from './paint.ts';

export interface Cell {
  text: string;
  colour?: Colour;
}

export interface TableOptions {
  paint: Paint;
  /** The last column is cut to fit this many columns of the terminal. */
  width?: number;
}

const GAP = '   ';
/** Of a last column that hardly fits, this much is shown all the same. */
const LEAST = 20;

/** Lays rows out in columns as kubectl does. Keep one for a table that grows: its columns never get narrower. */
export class Table {
  readonly #widths: number[] = [];
  readonly #options: TableOptions;

  constructor(options: TableOptions) {
    this.#options = options;
  }

  lines(rows: readonly (readonly Cell[])[]): string[] {
    for (const row of rows) {
      row.forEach(({ text }, index) => {
        this.#widths[index] = Math.max(this.#widths[index] ?? 0, lengthOf(text));
      });
    }
    return rows.map((row) => this.#line(row));
  }

  #line(row: readonly Cell[]): string {
    const { paint, width } = this.#options;
    let used = 0;
    const parts = row.map(({ text, colour }, index) => {
      const isLast = index === row.length - 1;
      if (isLast) return paint(colour, width === undefined ? text : cut(text, Math.max(LEAST, width - used)));
      const column = this.#widths[index] ?? 0;
      used += column + GAP.length;
      return `${paint(colour, text)}${' '.repeat(column - lengthOf(text))}`;
    });
    return parts.join(GAP).trimEnd();
  }
}

function cut(text: string, room: number): string {
  return lengthOf(text) <= room ? text : `${[...text].slice(0, room - 1).join('')}…`;
}

/** In characters, as far as a terminal without East Asian wide ones goes. */
function lengthOf(text: string): number {
  return [...text].length;
}
