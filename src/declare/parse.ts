import { GROUP, type JsonObject } from '../api/index.ts';
import { isKubegems, KUBEGEMS_GROUP } from '../compat/kubegems-kind.ts';
import type { Place, TextFault } from './fault.ts';
import { isMap, valueAt } from './merge.ts';
import { type LocatedPlace, parseYaml, type YamlDocument, type YamlText } from './yaml-text.ts';

/**
 * One document of our group, or of a kind that is taken for one of ours, wherever it stands. `faults` are of its text:
 * what it means was not looked at yet.
 */
export interface ParsedDeclaration extends Place {
  value: JsonObject;
  faults: TextFault[];
  locate(pointer: string): LocatedPlace;
}

export interface ParsedFile {
  /** Whether a group that matters is named in it at all; what names none is not parsed. */
  mentions: boolean;
  /** Of a broken file: what can be told of its declarations, none of which counts. */
  declarations: ParsedDeclaration[];
  broken?: TextFault;
}

/** A declaration is text that people write. Parsing takes a second a megabyte, and nothing else runs meanwhile. */
const MAX_BYTES = 512 * 1024;
const MAX_FOREIGN_BYTES = 256 * 1024;
const GROUPS = [GROUP, KUBEGEMS_GROUP];
const SAYS_ITS_KIND = new RegExp(`apiVersion["']?\\s*:\\s*["']?(${GROUPS.join('|')})/`);

/** Reads one file's declarations. Documents of other kinds are none of ours. */
export function parseFile(bytes: Uint8Array): ParsedFile {
  const text = decode(bytes);
  if (text === undefined) return { mentions: true, declarations: [], broken: atStart('the file is not UTF-8 text') };
  if (!GROUPS.some((group) => text.includes(`${group}/`))) return { mentions: false, declarations: [] };
  if (bytes.length > MAX_BYTES) {
    if (!SAYS_ITS_KIND.test(text)) return { mentions: false, declarations: [] };
    return {
      mentions: true,
      declarations: [],
      broken: atStart(`the file is larger than ${MAX_BYTES / 1024} KiB: split it`),
    };
  }
  const { documents, broken } = parseYaml(text);
  const declarations = documents.flatMap((document, index) => {
    const { value, faults, line, column } = document;
    if (!isOurs(value)) return [];
    return [{ value, faults, line, column, locate: locateLater(text, index) }];
  });
  return { mentions: true, declarations, ...brokenOf(broken, documents) };
}

/**
 * Reads a document that stands alone in its file and is of no kind. Undefined when the file is empty.
 */
export function parseAlone(bytes: Uint8Array): { document?: ParsedDeclaration; broken?: TextFault } {
  const text = decode(bytes);
  if (text === undefined) return { broken: atStart('the file is not UTF-8 text') };
  if (bytes.length > MAX_BYTES) return { broken: atStart(`the file is larger than ${MAX_BYTES / 1024} KiB`) };
  const { documents, broken } = parseYaml(text);
  const [document, second] = documents;
  const fault =
    broken ??
    (second === undefined
      ? undefined
      : { line: second.line, column: 1, message: 'a second document is not expected here' });
  if (document === undefined) return fault === undefined ? {} : { broken: fault };
  const { value, faults, line, column } = document;
  if (!isMap(value)) return { broken: fault ?? { line, column, message: 'this must be a map of names to values' } };
  const parsed = { value, faults, line, column, locate: locateLater(text, 0) };
  return fault === undefined ? { document: parsed } : { document: parsed, broken: fault };
}

/** What is wrong with the text of a file that names no kind of ours: once it may have. */
export function syntaxFault(bytes: Uint8Array): TextFault | undefined {
  const text = decode(bytes);
  if (text === undefined || bytes.length > MAX_FOREIGN_BYTES) return undefined;
  const { documents, broken } = parseYaml(text);
  return brokenOf(broken, documents).broken;
}

/** A whole file that is a single word or sentence is a page or a message that ended up in the wrong place. */
function brokenOf(broken: TextFault | undefined, documents: readonly YamlDocument[]): { broken?: TextFault } {
  if (broken !== undefined) return { broken };
  const prose = documents.find((document) => typeof document.value !== 'object');
  if (prose === undefined) return {};
  return {
    broken: { line: prose.line, column: prose.column, message: 'this is plain text where a YAML object should be' },
  };
}

function isOurs(value: unknown): value is JsonObject {
  const apiVersion = valueAt(value, 'apiVersion');
  return isMap(value) && typeof apiVersion === 'string' && (apiVersion.startsWith(`${GROUP}/`) || isKubegems(value));
}

/** Positions are rarely asked for: the text is kept and read again then, the whole tree of positions is not. */
function locateLater(text: string, index: number): (pointer: string) => LocatedPlace {
  let memory: WeakRef<YamlText> | undefined;
  return (pointer) => {
    const parsed = memory?.deref() ?? parseYaml(text);
    memory = new WeakRef(parsed);
    return parsed.documents[index]?.locate(pointer) ?? { line: 1, column: 1, exact: false };
  };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function atStart(message: string): TextFault {
  return { line: 1, column: 1, message };
}
