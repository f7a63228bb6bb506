import { plain } from '../plan/plain.ts';
import { type Check, type Checked, CODES, type Result, resultOf, summaryOf } from './check-model.ts';
import type { Colour, Paint } from './paint.ts';
import { type Cell, Table } from './table.ts';

const COLOURS: Readonly<Record<Result, Colour>> = { ok: 'green', warning: 'yellow', blocks: 'red' };
const NONE = '-';

/** A row for each thing that was found, each whole by itself, so that it can be searched. */
export function checkLines(check: Check, options: { paint: Paint; namespaces: boolean }): string[] {
  const header = [
    ...(options.namespaces ? ['NAMESPACE'] : []),
    ...['NAME', 'NOW', `WITH ${check.to.release}`, 'RESULT', 'WHY'],
  ];
  const rows = check.items.flatMap((item) => rowsOf(item, options.namespaces));
  if (rows.length === 0) return [];
  return new Table({ paint: options.paint }).lines([header.map((text) => ({ text })), ...rows]);
}

/** `Kubernetes v1.36.3 → 1.37: 12 ok, 1 warning, 2 block` */
export function checkSummary(check: Check): string {
  const { ok, warning, blocks } = summaryOf(check);
  const counts = [
    `${ok} ok`,
    ...(warning === 0 ? [] : [`${warning} warning${warning === 1 ? '' : 's'}`]),
    ...(blocks === 0 ? [] : [`${blocks} ${blocks === 1 ? 'blocks' : 'block'}`]),
  ];
  const from = check.from === undefined ? '' : `${check.from} → `;
  return `Kubernetes ${from}${check.to.release}: ${counts.join(', ')}`;
}

function rowsOf(item: Checked, namespaces: boolean): Cell[][] {
  const { kind, namespace, name, before, after, findings } = item;
  const told = findings.length === 0 ? [undefined] : findings;
  return told.map((finding) => {
    const result = finding === undefined ? resultOf(item) : CODES[finding.code];
    return [
      ...(namespaces ? [{ text: plain(namespace) }] : []),
      { text: plain(`${kind.toLowerCase()}/${name}`) },
      { text: plain(before ?? NONE) },
      { text: plain(after ?? NONE) },
      { text: result, colour: COLOURS[result] },
      { text: plain(finding?.message ?? NONE) },
    ];
  });
}
