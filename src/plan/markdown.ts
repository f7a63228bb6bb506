import type { PluginPlan } from './object-plan.ts';
import { plain } from './plain.ts';
import { faultLine, objectLines, shownObjects } from './text.ts';
import { type Plan, summaryLine } from './whole.ts';
import { countsLine, describeObject, SIGNS, titleOf } from './words.ts';

export interface MarkdownOptions {
  /** Forges cap a comment: GitHub and Gitea at 65,536 characters. */
  maxLength?: number;
  /** Off for forges that show HTML as text (Bitbucket): sections are headings then, not folded. */
  html?: boolean;
}

/** How much is shown, from the most to the least. The first that fits is taken. */
const DETAILS = [
  { objects: true, fieldLines: 400 },
  { objects: true, fieldLines: 20 },
  { objects: true, fieldLines: 0 },
  { objects: false, fieldLines: 0 },
] as const;
type Detail = (typeof DETAILS)[number];

/**
 * A plan for a comment on a pull request. Whatever comes from the repository or the cluster stands in code blocks or
 * is spelled in character references: it can't become markup, a link, or the mention of a person.
 */
export function planMarkdown(plan: Plan, { maxLength = 60_000, html = true }: MarkdownOptions = {}): string {
  for (const detail of DETAILS) {
    const text = compose(plan, detail, html);
    if (text.length <= maxLength) return text;
  }
  return shorten(compose(plan, { objects: false, fieldLines: 0 }, html), maxLength);
}

function compose(plan: Plan, detail: Detail, html: boolean): string {
  const { base, head } = plan.commit;
  const commits = base === undefined ? codeSpan(head) : `${codeSpan(base)} → ${codeSpan(head)}`;
  const blocks = [
    `### ${plan.cluster === undefined ? 'Plan' : `Plan for ${codeSpan(plan.cluster)}`}`,
    `**${summaryLine(plan)}** (${commits})`,
    ...section('Faults', plan.faults.map(faultLine)),
    ...section('Held', plan.held.flatMap(heldLines)),
    ...section(
      'Waiting',
      plan.waits.map((wait) => `${wait.plugin} waits for ${wait.for}`),
    ),
    ...section('Drift that would be put back', plan.drift.map(driftLine)),
    ...plan.plugins.flatMap((plugin) => pluginBlocks(plugin, detail, html)),
  ];
  if (detail !== DETAILS[0]) blocks.push('_Shortened to fit a comment; `espalier plan` shows everything._');
  return `${blocks.join('\n\n')}\n`;
}

function pluginBlocks(plugin: PluginPlan, detail: Detail, html: boolean): string[] {
  const objects = shownObjects(plugin, false);
  if (objects.length === 0 && plugin.warnings.length === 0) return [];
  const lines = [
    ...plugin.warnings.map((warning) => `! ${warning}`),
    ...objects.flatMap((object) => {
      const { name, note } = describeObject(object);
      const maxLines = detail.fieldLines;
      const below = maxLines === 0 ? [] : objectLines(object, { full: maxLines === DETAILS[0].fieldLines, maxLines });
      return [`${diffSign(SIGNS[object.action])} ${note === '' ? name : `${name}: ${note}`}`, ...below.map(asDiffLine)];
    }),
  ];
  const body = detail.objects ? [fence('diff', lines)] : [];
  if (html) {
    const summary = `<summary><code>${references(titleOf(plugin))}</code>: ${countsLine(plugin)}</summary>`;
    return body.length === 0
      ? [`- ${codeSpan(titleOf(plugin))}: ${countsLine(plugin)}`]
      : [`<details>${summary}`, ...body, '</details>'];
  }
  return [`#### ${codeSpan(titleOf(plugin))}: ${countsLine(plugin)}`, ...body];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`**${title}**`, fence('', lines)];
}

function heldLines(hold: Plan['held'][number]): string[] {
  return [`${hold.plugin === undefined ? '' : `${hold.plugin}: `}${hold.reason}`, `  ${hold.howToApprove}`];
}

function driftLine(drift: Plan['drift'][number]): string {
  const by = drift.by === undefined ? '' : `, changed by ${drift.by}`;
  return `${drift.object} (${drift.plugin})${by}: ${drift.fields.join(', ')}`;
}

/** In a `diff` block `+`, `-` and `!` are coloured by the first column. */
function asDiffLine(line: string): string {
  return `${diffSign(line[0] ?? ' ')}   ${line.slice(1)}`;
}

function diffSign(sign: string): string {
  return sign === '+' || sign === '-' ? sign : /[ =→]/.test(sign) ? ' ' : '!';
}

/** A code block whose fence is longer than any run of backticks inside. */
function fence(language: string, lines: readonly string[]): string {
  const body = lines.map(plain).join('\n');
  const longest = (body.match(/`+/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2);
  const marks = '`'.repeat(longest + 1);
  return `${marks}${language}\n${body}\n${marks}`;
}

function codeSpan(text: string): string {
  const body = plain(text);
  const longest = (body.match(/`+/g) ?? []).reduce((length, run) => Math.max(length, run.length), 0);
  const marks = '`'.repeat(longest + 1);
  return longest === 0 && body.trim() !== '' ? `\`${body}\`` : `${marks} ${body} ${marks}`;
}

/** Every character that could mean something in HTML or Markdown as a character reference. */
function references(text: string): string {
  return plain(text).replace(/[^A-Za-z0-9 ./-]/gu, (character) => `&#${character.codePointAt(0)};`);
}

function shorten(text: string, maxLength: number): string {
  const end = '\n\n…\n';
  const cut = text.lastIndexOf('\n', Math.max(0, maxLength - end.length));
  return text.slice(0, Math.max(0, cut)) + end;
}
