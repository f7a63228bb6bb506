import { type Call, Definitions } from './definitions.ts';
import { type Edit, withEdits } from './edits.ts';
import { parseTemplate } from './go-parse.ts';
import type { Node } from './go-tree.ts';
import type { Kind } from './kinds.ts';
import { ROOT } from './kinds.ts';
import { placed, TemplateFault } from './template-fault.ts';
import { type Surroundings, TemplateWalk } from './walk-template.ts';

export interface TemplateText {
  /** For messages. */
  path: string;
  text: string;
}

export type PortedTemplates =
  | {
      texts: string[];
      /** Each name that is asked of the parameters, and where it is first. */
      used: Map<string, string>;
    }
  | { faults: string[] };

/** What is certain of the data that definitions are called with settles in a few rounds. */
const MOST_ROUNDS = 10;

/**
 * Templates with bare parameters as templates of a chart: `.replicas` becomes `.Values.replicas`, also by way of `$`,
 * variables, `with`, and definitions that are called with the parameters; `.Files` and its like stay what they are.
 * Everything else stays as it is written, byte for byte. `parameters` is what is known of them.
 */
export function portTemplates(templates: readonly TemplateText[], parameters: Kind): PortedTemplates {
  const faults: string[] = [];
  const read = templates.map((template) => ({ ...template, nodes: nodesOf(template, faults) }));
  if (faults.length > 0) return { faults };
  const definitions = new Definitions(read);
  for (let round = 0; round < MOST_ROUNDS && !definitions.areSettled; round += 1) {
    const calls: Call[] = [];
    for (const { path, nodes } of read) walkAll(definitions, { parameters, calls, edits: [], used: [], path }, nodes);
    definitions.learn(calls);
  }
  const names = new Map<string, string>();
  const texts = read.map(({ path, text, nodes }) => {
    const edits: Edit[] = [];
    const used: Surroundings['used'] = [];
    walkAll(definitions, { parameters, calls: [], edits, used, path }, nodes);
    for (const one of used)
      if (!names.has(one.name)) names.set(one.name, placed(path, text, { at: one.at, message: `.${one.name}` }));
    return withEdits(text, edits);
  });
  for (const { path, at, message } of definitions.conflicts()) {
    const text = read.find((one) => one.path === path)?.text ?? '';
    faults.push(placed(path, text, { at, message }));
  }
  return faults.length > 0 ? { faults } : { texts, used: names };
}

/** The text of a file, and each definition in it with what it is called with. */
function walkAll(definitions: Definitions, surroundings: Surroundings, nodes: readonly Node[]): void {
  new TemplateWalk(surroundings, ROOT).nodes(nodes);
  for (const { name, body } of definitions.of(surroundings.path)) {
    const data = definitions.dataOf(name);
    // What nobody calls stays as it is.
    if (data !== undefined) new TemplateWalk(surroundings, data).nodes(body);
  }
}

function nodesOf({ path, text }: TemplateText, faults: string[]): Node[] {
  try {
    return parseTemplate(text);
  } catch (error) {
    if (error instanceof RangeError) faults.push(`${path}:1:1: this is nested too deeply`);
    else if (error instanceof TemplateFault) faults.push(placed(path, text, error));
    else throw error;
    return [];
  }
}
