import type { PlannedPull } from '../../api/index.ts';
import type { ForgeLimits } from '../../forge/forge.ts';
import { planMarkdown } from '../../plan/markdown.ts';
import { codeSpan } from '../../plan/markdown-text.ts';
import type { Plan } from '../../plan/whole.ts';

/** What the forge's part puts before a comment to find it again. */
const MARKER_ROOM = 200;

export interface CommentInput {
  plan: Plan;
  pull: PlannedPull;
  limits: ForgeLimits;
  /** To the whole plan. */
  link: string | undefined;
  at: string;
}

/** The comment as it is written, and its content without the time: only another content is worth another write. */
export function commentOn({ plan, pull, limits, link, at }: CommentInput): { text: string; content: string } {
  const { approved, head, base } = pull;
  const approval =
    approved === undefined ? [] : [`Approved by ${codeSpan(approved.by)} for ${codeSpan(head.slice(0, 10))}.`];
  const compose = (time: string): string =>
    planMarkdown(plan, {
      maxLength: limits.comment - MARKER_ROOM,
      html: limits.html,
      ...(link === undefined ? {} : { whole: link }),
      footer: [...approval, mergedLine({ head, base }, time)],
    });
  return { text: compose(` at ${at}`), content: compose('') };
}

/** What was planned, for the end of a comment. */
export function mergedLine({ head, base }: Pick<PlannedPull, 'head' | 'base'>, time: string): string {
  return `_Head ${codeSpan(head.slice(0, 10))} merged into ${codeSpan(base.slice(0, 10))}, planned against the live cluster${time}. Nothing was changed._`;
}
