import { CONDITION, findCondition, type Plugin } from '../api/index.ts';

/** What a line of the screen says of a Plugin. */
export interface Row {
  name: string;
  phase: string;
  version: string;
  drift: boolean;
  why: string;
}

const MARKS: Readonly<Record<string, string>> = {
  Ready: '✔',
  Failed: '✘',
  Held: '‖',
  Waiting: '…',
  Progressing: '↻',
  Removing: '↻',
  Suspended: '‖',
};

export function rowOf(plugin: Plugin): Row {
  const { status, metadata } = plugin;
  const isCurrent = status?.observedGeneration === metadata.generation;
  return {
    name: metadata.name,
    phase: isCurrent ? (status?.phase ?? 'Pending') : 'Pending',
    version: status?.revision?.version ?? '',
    drift: findCondition(status?.conditions, CONDITION.Drifted)?.status === 'True',
    why: isCurrent ? (status?.message ?? '') : '',
  };
}

/** An aligned table that never wraps: what a terminal is too narrow for is cut. */
export function tableOf(rows: readonly Row[], columns: number): string {
  const sorted = [...rows].sort((a, b) => (a.name < b.name ? -1 : 1));
  const width = (values: string[]): number => Math.max(0, ...values.map((value) => value.length));
  const [names, phases, versions] = [
    width(sorted.map((row) => row.name)),
    width(sorted.map((row) => row.phase)),
    width(sorted.map((row) => row.version)),
  ];
  const lines = sorted.map((row) => {
    const line = `  ${MARKS[row.phase] ?? '·'} ${row.name.padEnd(names)}  ${row.phase.padEnd(phases)}  ${row.version.padEnd(versions)}  ${row.drift ? 'drifted; ' : ''}${row.why}`;
    return line.length <= columns ? line.trimEnd() : `${line.slice(0, columns - 1)}…`;
  });
  return `${lines.join('\n')}\n`;
}
