import { fitParts, type Part } from './fit.ts';
import { codeSpan, fence, references } from './markdown-text.ts';
import type { PluginPlan } from './object-plan.ts';
import { driftLine, faultLine, objectLines, shownObjects } from './text.ts';
import { type Plan, summaryLine } from './whole.ts';
import { countsLine, describeObject, SIGNS, titleOf, versionsLines } from './words.ts';

export interface MarkdownOptions {
  /** Forges cap a comment: GitHub and Gitea at 65,536 characters. */
  maxLength?: number;
  /** Off for forges that show HTML as text (Bitbucket): sections are headings then, not folded. */
  html?: boolean;
  /** Lines below everything else, as Markdown of ours: when it was made, how to approve. Never cut. */
  footer?: readonly string[];
  /** Where the whole plan is, told where something was left out. */
  whole?: string;
}

/** How much of a plugin is shown, from the most to the least. */
const DETAILS = [
  { objects: true, fieldLines: 400 },
  { objects: true, fieldLines: 20 },
  { objects: true, fieldLines: 0 },
  { objects: false, fieldLines: 0 },
] as const;
type Detail = (typeof DETAILS)[number];

/** Lines of a section, at most: a thousand faults are told as a hundred and how many more. */
const SECTION_LINES = [1_000, 100, 20, 3] as const;
const GAP = '\n\n';

/**
 * A plan for a comment on a pull request. Whatever comes from the repository or the cluster stands in code blocks or
 * is spelled in character references: it can't become markup, a link, or the mention of a person. What is too long is
 * shortened part by part, the largest first; the summary never.
 */
export function planMarkdown(plan: Plan, options: MarkdownOptions = {}): string {
  const { maxLength = 60_000, html = true, footer = [], whole } = options;
  const { base, head } = plan.commit;
  const commits = base === undefined ? codeSpan(head) : `${codeSpan(base)} → ${codeSpan(head)}`;
  const top = [
    `### ${plan.cluster === undefined ? 'Plan' : `Plan for ${codeSpan(plan.cluster)}`}`,
    `**${summaryLine(plan)}** (${commits})`,
  ];
  const parts: Part[] = [
    ...section('Faults', plan.faults.map(faultLine)),
    ...section('Held', plan.held.flatMap(heldLines)),
    ...section(
      'Waiting',
      plan.waits.map((wait) => `${wait.plugin} waits for ${wait.for}`),
    ),
    ...plan.plugins.flatMap((plugin) => pluginPart(plugin, html)),
    ...section('Drift that would be put back', plan.drift.map(driftLine)),
    ...section('Drift that was there before, and that this does not touch', (plan.driftBefore ?? []).map(driftLine)),
  ];
  const whereWhole = whole === undefined ? '`espalier plan` shows everything' : `[the whole plan](${whole})`;
  const cut = (dropped: number): string =>
    `_Shortened to fit a comment${dropped === 0 ? '' : `, ${dropped} parts left out`}: ${whereWhole}._`;
  const fixed = [...top, ...footer].reduce((sum, text) => sum + text.length + GAP.length, cut(10_000).length + 2);
  const { texts, isCut, dropped } = fitParts(parts, maxLength - fixed, GAP.length);
  const text = `${[...top, ...texts, ...(isCut ? [cut(dropped)] : []), ...footer].join(GAP)}\n`;
  return text.length <= maxLength ? text : shorten(text, maxLength);
}

function pluginPart(plugin: PluginPlan, html: boolean): Part[] {
  if (shownObjects(plugin, false).length === 0 && plugin.warnings.length === 0) return [];
  const [first, ...rest] = DETAILS.map((detail) => pluginText(plugin, detail, html));
  return first === undefined ? [] : [[first, ...rest]];
}

function pluginText(plugin: PluginPlan, detail: Detail, html: boolean): string {
  const lines = [
    ...versionsLines(plugin).map((line) => `  ${line}`),
    ...plugin.warnings.map((warning) => `! ${warning}`),
    ...shownObjects(plugin, false).flatMap((object) => {
      const { name, note } = describeObject(object);
      const maxLines = detail.fieldLines;
      const below = maxLines === 0 ? [] : objectLines(object, { full: maxLines === DETAILS[0].fieldLines, maxLines });
      return [`${diffSign(SIGNS[object.action])} ${note === '' ? name : `${name}: ${note}`}`, ...below.map(asDiffLine)];
    }),
  ];
  const body = detail.objects ? [fence('diff', lines)] : [];
  if (!html) return [`#### ${codeSpan(titleOf(plugin))}: ${countsLine(plugin)}`, ...body].join(GAP);
  if (body.length === 0) return `- ${codeSpan(titleOf(plugin))}: ${countsLine(plugin)}`;
  const summary = `<summary><code>${references(titleOf(plugin))}</code>: ${countsLine(plugin)}</summary>`;
  return [`<details>${summary}`, ...body, '</details>'].join(GAP);
}

function section(title: string, lines: readonly string[]): Part[] {
  if (lines.length === 0) return [];
  const lengths = SECTION_LINES.filter((most, index) => index === 0 || most < lines.length);
  const [first = '', ...rest] = lengths.map((most) => {
    const more = lines.length > most ? [`… ${lines.length - most} more`] : [];
    return [`**${title}**`, fence('', [...lines.slice(0, most), ...more])].join(GAP);
  });
  return [[first, ...rest]];
}

function heldLines(hold: Plan['held'][number]): string[] {
  return [`${hold.plugin === undefined ? '' : `${hold.plugin}: `}${hold.reason}`, `  ${hold.howToApprove}`];
}

/** In a `diff` block `+`, `-` and `!` are coloured by the first column. */
function asDiffLine(line: string): string {
  return `${diffSign(line[0] ?? ' ')}   ${line.slice(1)}`;
}

function diffSign(sign: string): string {
  return sign === '+' || sign === '-' ? sign : /[ =→]/.test(sign) ? ' ' : '!';
}

function shorten(text: string, maxLength: number): string {
  const end = '\n\n…\n';
  const cut = text.lastIndexOf('\n', Math.max(0, maxLength - end.length));
  return text.slice(0, Math.max(0, cut)) + end;
}
