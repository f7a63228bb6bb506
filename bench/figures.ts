/** One line of a benchmark's report. */
export interface Row {
  what: string;
  figure: string;
  /** What was asked for; left out for figures that only put others into proportion. */
  goal?: string;
  met?: boolean;
}

/** A figure that must stay below a limit. */
export function below(what: string, value: number, limit: number, write: (value: number) => string): Row {
  return { what, figure: write(value), goal: `< ${write(limit)}`, met: value < limit };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  if (upper === undefined) throw new Error('a median of nothing');
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function seconds(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`;
  return ms < 10_000 ? `${(ms / 1000).toFixed(2)} s` : `${(ms / 1000).toFixed(1)} s`;
}

export function times(ratio: number): string {
  return `${ratio.toFixed(2)} ×`;
}

/** `0.41 s (0.35 s to 0.62 s)`: the median alone hides how steady a figure is. */
export function spread(values: readonly number[]): string {
  return `${seconds(Math.min(...values))} to ${seconds(Math.max(...values))}`;
}

export function plainTable(rows: readonly Row[]): string {
  const width = Math.max(...rows.map((row) => row.what.length));
  return rows
    .map((row) =>
      `${row.what.padEnd(width)}  ${row.figure.padEnd(14)}  ${[row.goal, verdict(row)].join(' ')}`.trimEnd(),
    )
    .join('\n');
}

export function markdownTable(rows: readonly Row[]): string {
  const lines = rows.map((row) => `| ${row.what} | ${row.figure} | ${[row.goal, verdict(row)].join(' ').trim()} |`);
  return ['| what | figure | goal |', '|---|---|---|', ...lines].join('\n');
}

function verdict({ met }: Row): string {
  return met === undefined ? '' : met ? '✓' : '✗';
}
