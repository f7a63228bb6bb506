import type { Plan } from '../plan/whole.ts';
import { wantsColor } from './options.ts';
import { print } from './print.ts';

export type PlanFormat = 'text' | 'json' | 'markdown';

export interface PlanOutput {
  output?: PlanFormat;
  color?: boolean;
  full?: true;
}

/** A plan in the form that was asked for. `footer` are paragraphs for the end of a comment. */
export async function printPlan(plan: Plan, options: PlanOutput, footer: string[] = []): Promise<void> {
  if (options.output === 'json') {
    const { planDocument } = await import('../plan/json-form.ts');
    print(JSON.stringify(planDocument(plan), null, 2));
  } else if (options.output === 'markdown') {
    const { planMarkdown } = await import('../plan/markdown.ts');
    print(planMarkdown(plan, { footer }).trimEnd());
  } else {
    const { planText } = await import('../plan/text.ts');
    print(planText(plan, { color: wantsColor(options), full: options.full === true }).trimEnd());
  }
}
