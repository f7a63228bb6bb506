import { ACTIONS, type Action, type ObjectPlan, type PluginPlan } from './object-plan.ts';
import { plain } from './plain.ts';
import { blockLines, changeLines } from './value-lines.ts';
import { type Plan, summaryLine } from './whole.ts';
import { countsLine, describeObject, SIGNS, titleOf, versionsLines } from './words.ts';

export interface TextOptions {
  color?: boolean;
  /** Also lists unchanged objects, and shows what new ones consist of. */
  full?: boolean;
  /** Lines for one object, at most; the rest is counted. */
  maxLines?: number;
}

const RESET = '\u001b[0m';
const COLOURS: Readonly<Record<string, string>> = {
  '+': '\u001b[32m',
  '-': '\u001b[31m',
  '~': '\u001b[33m',
  '>': '\u001b[36m',
  '!': '\u001b[35m',
  '✗': '\u001b[31m',
};
const BOLD = '\u001b[1m';

/** A plan for a terminal, or for a file when `color` is off. */
export function planText(plan: Plan, options: TextOptions = {}): string {
  const paint = (code: string | undefined, text: string) =>
    options.color === true && code !== undefined ? `${code}${text}${RESET}` : text;
  const signed = (sign: string, text: string) => paint(COLOURS[sign], `${sign} ${plain(text)}`);
  const { base, head } = plan.commit;
  const lines = [
    `${plan.cluster === undefined ? 'Plan' : `Plan for cluster ${plain(plan.cluster)}`}, commit ${base === undefined ? '' : `${plain(base)} → `}${plain(head)}`,
  ];
  for (const fault of plan.faults) lines.push(signed('✗', faultLine(fault)));
  for (const hold of plan.held) {
    lines.push(signed('!', `held${hold.plugin === undefined ? '' : ` (${hold.plugin})`}: ${hold.reason}`));
    lines.push(`  ${plain(hold.howToApprove)}`);
  }
  for (const wait of plan.waits) lines.push(`  ${plain(`${wait.plugin} waits for ${wait.for}`)}`);
  for (const drift of plan.drift) lines.push(signed('~', `drift in ${driftLine(drift)}`));
  for (const drift of plan.driftBefore ?? []) lines.push(`  ${plain(`drift that stays in ${driftLine(drift)}`)}`);
  for (const plugin of plan.plugins) {
    lines.push('', `${paint(BOLD, plain(titleOf(plugin)))}: ${countsLine(plugin)}`);
    for (const line of versionsLines(plugin)) lines.push(`  ${plain(line)}`);
    for (const warning of plugin.warnings) lines.push(`  ${signed('!', warning)}`);
    for (const object of shownObjects(plugin, options.full === true)) {
      const { name, note } = describeObject(object);
      lines.push(`  ${signed(SIGNS[object.action], note === '' ? name : `${name}: ${note}`)}`);
      for (const line of objectLines(object, options))
        lines.push(`      ${paint(COLOURS[line[0] ?? ''], plain(line))}`);
    }
  }
  lines.push('', paint(BOLD, summaryLine(plan)));
  return `${lines.join('\n')}\n`;
}

/** In the order in which people want to read them; unchanged ones only where asked for, or though declared otherwise. */
export function shownObjects(plugin: PluginPlan, full: boolean): ObjectPlan[] {
  const order = (action: Action) => ACTIONS.indexOf(action);
  return plugin.objects
    .filter((object) => full || object.action !== 'unchanged' || object.once?.changed === true)
    .toSorted((a, b) => order(a.action) - order(b.action));
}

/** What is to be said below an object's own line. */
export function objectLines(object: ObjectPlan, { full, maxLines = 200 }: TextOptions): string[] {
  const lines =
    'fields' in object && object.action !== 'conflict'
      ? object.fields.flatMap(changeLines)
      : object.action === 'conflict'
        ? (object.fields ?? []).map(({ field, manager }) => `! ${field}: held by ${manager}`)
        : object.action === 'create' && full === true
          ? blockLines(object.object).map((line) => `+ ${line}`)
          : [];
  return lines.length <= maxLines ? lines : [...lines.slice(0, maxLines), `  … ${lines.length - maxLines} more lines`];
}

export function faultLine(fault: Plan['faults'][number]): string {
  const place = [fault.file, fault.line, fault.column].filter((part) => part !== undefined).join(':');
  const where = [fault.plugin, place].filter((part) => part !== undefined && part !== '').join(', ');
  return where === '' ? fault.message : `${where}: ${fault.message}`;
}

export function driftLine({ plugin, object, fields, by }: Plan['drift'][number]): string {
  return `${object} (${plugin})${by === undefined ? '' : `, changed by ${by}`}: ${fields.join(', ')}`;
}
