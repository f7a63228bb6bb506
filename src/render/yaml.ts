import { constructFromEvents, dump, EVENT_ID, parseEvents, YAMLException } from 'js-yaml';
import { EspalierError, messageOf } from '../api/index.ts';
import { GO_SCHEMA, QUOTING_SCHEMA } from './yaml-scalars.ts';

/**
 * Only this file and its scalars know js-yaml. It reads rendered objects several times as fast as `yaml` does, which is
 * what the first apply of a large plugin waits for. Declarations, whose faults need their place in the text, are read
 * with `yaml`.
 */
export interface YamlDocument {
  value: unknown;
  /** Line of the first thing in it, from 1. */
  line: number;
}

const MAX_DEPTH = 100;
const MAX_ALIASES = 1_000;
const MAX_MERGED_KEYS = 10_000;
/** Values in one document once aliases are followed: a few lines can stand for billions. */
const MAX_VALUES = 1_000_000;

/** Every document of a YAML text; empty ones are left out. `file` and `firstLine` are for messages. */
export function parseYaml(text: string, file: string, firstLine = 1): YamlDocument[] {
  try {
    const events = parseEvents(text, { maxDepth: MAX_DEPTH });
    const values = constructFromEvents(events, {
      source: text,
      schema: GO_SCHEMA,
      maxAliases: MAX_ALIASES,
      maxTotalMergeKeys: MAX_MERGED_KEYS,
    });
    const hasAliases = events.some((event) => event.type === EVENT_ID.ALIAS);
    const lines = linesOfDocuments(text, events);
    const documents: YamlDocument[] = [];
    for (const [index, value] of values.entries()) {
      if (value === null || value === undefined) continue;
      const line = (lines[index] ?? 1) + firstLine - 1;
      documents.push({ value: hasAliases ? expand(value, file, line) : value, line });
    }
    return documents;
  } catch (error) {
    if (error instanceof EspalierError) throw error;
    throw yamlFault(error, file, firstLine);
  }
}

/** Where each document's content begins. */
function linesOfDocuments(text: string, events: ReturnType<typeof parseEvents>): number[] {
  const lines: number[] = [];
  let [line, offset, isOpen] = [1, 0, false];
  for (const event of events) {
    if (event.type === EVENT_ID.DOCUMENT) {
      isOpen = true;
      lines.push(line);
    } else if (isOpen && event.type !== EVENT_ID.POP) {
      isOpen = false;
      const start = 'start' in event ? event.start : 'valueStart' in event ? event.valueStart : offset;
      for (; offset < start; offset++) if (text.charCodeAt(offset) === 10) line++;
      lines[lines.length - 1] = line;
    }
  }
  return lines;
}

/** A copy in which nothing is shared, so that changing one place never changes another. */
function expand(value: unknown, file: string, line: number): unknown {
  let count = 0;
  function copy(part: unknown): unknown {
    count++;
    if (count > MAX_VALUES) {
      throw new EspalierError(
        'RenderRefused',
        `${file}:${line}: aliases in it stand for more than ${MAX_VALUES} values`,
        {
          retry: false,
        },
      );
    }
    if (Array.isArray(part)) return part.map(copy);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, field]) => [name, copy(field)]));
  }
  return copy(value);
}

function yamlFault(error: unknown, file: string, firstLine: number): EspalierError {
  const mark = error instanceof YAMLException ? error.mark : undefined;
  const place = mark === undefined ? file : `${file}:${mark.line + firstLine}:${mark.column + 1}`;
  const reason = error instanceof YAMLException ? error.reason : messageOf(error);
  const data = mark === undefined ? { file } : { file, line: mark.line + firstLine, column: mark.column + 1, reason };
  // Neither the snippet nor the cause: both quote the text, which may hold secrets.
  return new EspalierError('RenderFailed', `${place}: not valid YAML: ${reason}`, { data, retry: false });
}

/** One object as YAML, with quotes wherever some reader of YAML would see something else than text. */
export function yamlText(object: object): string {
  return dump(object, { lineWidth: -1, noRefs: true, schema: QUOTING_SCHEMA });
}
