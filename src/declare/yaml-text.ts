import { Composer, type Document, isScalar, LineCounter, Parser, Schema } from 'yaml';
import type { Json } from '../api/index.ts';
import type { Place, TextFault } from './fault.ts';
import { SCALARS_AS_IN_HELM } from './scalars.ts';
import { find } from './yaml-place.ts';
import { toJson } from './yaml-value.ts';

export interface YamlDocument extends Place {
  value: Json;
  /** What in it has no place in a declaration: duplicate and forbidden keys, alias bombs, unknown tags. */
  faults: TextFault[];
  locate(pointer: string): LocatedPlace;
}

export interface LocatedPlace extends Place {
  /** False when there is nothing at the pointer and this is the nearest thing around it. */
  exact: boolean;
}

export interface YamlText {
  documents: YamlDocument[];
  /** The text is not YAML; nothing behind the first error was read. */
  broken?: TextFault;
}

/** Made once: the library makes one for each document otherwise, which doubles the time of small ones. */
const SCHEMA = new Schema({ schema: 'core', customTags: (tags) => [...SCALARS_AS_IN_HELM, ...tags] });
const MAX_DOCUMENTS = 2_000;
const TOO_DEEP = 'the file is nested too deeply to be read';
const TAG_UNKNOWN = 'TAG_RESOLVE_FAILED';

/**
 * Reads YAML (and JSON, which is YAML) as kubectl does. Never throws for a text, however broken or hostile. The
 * documents of a broken text end with what could be made out of the broken one.
 */
export function parseYaml(text: string): YamlText {
  const lines = new LineCounter();
  const documents: YamlDocument[] = [];
  try {
    for (const document of compose(text, lines)) {
      if (documents.length >= MAX_DOCUMENTS)
        return { documents, broken: atStart(`the file holds more than ${MAX_DOCUMENTS} documents`) };
      const read = readDocument(document, lines);
      if (read !== undefined) documents.push(read);
      const [error] = document.errors;
      if (error === undefined) continue;
      return { documents, broken: { ...placeAt(lines, error.pos[0]), message: describe(error.message) } };
    }
    return { documents };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { documents, broken: atStart(TOO_DEEP) };
  }
}

function* compose(text: string, lines: LineCounter): Generator<Document.Parsed> {
  const composer = new Composer({
    schema: SCHEMA,
    // The library's own check takes quadratic time; toJson finds them.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  for (const token of new Parser(lines.addNewLine).parse(text)) {
    yield* composer.next(token);
    if (token.type === 'error') break;
  }
  yield* composer.end();
}

function readDocument(document: Document.Parsed, lines: LineCounter): YamlDocument | undefined {
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return undefined;
  const { value, faults } = toJson(document);
  const tags = document.warnings
    .filter((warning) => warning.code === TAG_UNKNOWN)
    .map((warning) => ({ offset: warning.pos[0], message: 'the tag (!…) means nothing here' }));
  return {
    ...placeAt(lines, contents.range[0]),
    value,
    faults: [...faults, ...tags].map(({ offset, message }) => ({ ...placeAt(lines, offset), message })),
    locate: (pointer) => {
      const { offset, exact } = find(document, pointer);
      return { ...placeAt(lines, offset), exact };
    },
  };
}

function placeAt(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

function atStart(message: string): TextFault {
  return { line: 1, column: 1, message };
}

/** The library quotes what it stumbled over, which may be somebody's password. */
function describe(message: string): string {
  if (message.startsWith('Maximum call stack')) return TOO_DEEP;
  return `this is not valid YAML: ${message.replace(/: *".*$/s, '')}`;
}
