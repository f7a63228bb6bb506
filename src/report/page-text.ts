import type { Plugin, Sync } from '../api/index.ts';
import { shorten } from '../api/one-line.ts';

const LONGEST_LINE = 500;

/** How a Sync and its Plugins are, as plain text: what the link of a commit status leads to. */
export function syncText(sync: Sync, plugins: readonly Plugin[]): string {
  const { metadata, spec, status = {} } = sync;
  const lines = [
    `Sync ${metadata.namespace}/${metadata.name}: ${status.phase ?? 'Pending'}: ${line(status.message ?? 'not looked at yet')}`,
    `repository  ${line(spec.repository.url)}`,
    `commit      ${status.commit ?? '-'}`,
    `head        ${status.observed?.commit ?? '-'}${status.observed?.ref === undefined ? '' : ` (${status.observed.ref})`}`,
  ];
  for (const { file, line: at, column, message, object } of status.faults ?? []) {
    const place = [file, at, column].filter((part) => part !== undefined).join(':');
    lines.push(`fault       ${line(`${place}: ${object === undefined ? '' : `${object}: `}${message}`)}`);
  }
  if (status.held !== undefined) lines.push(`held        ${line(status.held.reason)}`);
  lines.push('', 'Plugins');
  for (const plugin of plugins.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))) {
    lines.push(`  ${nameOf(plugin)}: ${plugin.status?.phase ?? 'Pending'}: ${line(plugin.status?.message ?? '')}`);
    for (const { object, fields, by } of plugin.status?.drift ?? [])
      lines.push(
        `    drift in ${line(`${object}: ${fields.join(', ')}${by === undefined ? '' : ` (changed by ${by})`}`)}`,
      );
  }
  if ((status.answers ?? []).length > 0) lines.push('', 'Commit statuses');
  for (const { commit, statuses } of status.answers ?? []) {
    lines.push(`  ${commit}`);
    for (const { context, state, description } of statuses)
      lines.push(`    ${context}: ${state}: ${line(description)}`);
  }
  return `${lines.join('\n')}\n`;
}

function nameOf({ metadata }: Plugin): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function line(text: string): string {
  return shorten(text, LONGEST_LINE);
}
