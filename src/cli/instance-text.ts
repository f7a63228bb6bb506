import { isDeepStrictEqual } from 'node:util';
import {
  type Document,
  isMap,
  isScalar,
  type Pair,
  type ParsedNode,
  parseAllDocuments,
  stringify,
  type YAMLMap,
} from 'yaml';
import { EspalierError } from '../api/errors.ts';
import type { JsonObject } from '../api/objects.ts';

/** Which document of a file is meant; one without a namespace is in that of the Sync. */
export interface Named {
  kind: string;
  name: string;
  namespace: string;
  usual: string;
}

type Doc = Document.Parsed<ParsedNode>;

/** A declaration as a new file has it. */
export function instanceText(object: object): string {
  // Readers of YAML 1.1 would take `on` or `1:30` for something other than text.
  return stringify(object, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' });
}

/** The same text with one value of a declaration changed or added, and everything else as it was, comments included. */
export function withValue(text: string, named: Named, path: readonly string[], value: string): string {
  const docs = documentsOf(text);
  const doc = docs[indexOf(docs, named)];
  const edited = doc === undefined ? undefined : edit(text, doc, path, value);
  const expected = docs.map((one) => (one === doc ? withIn(one.toJS() as JsonObject, path, value) : one.toJS()));
  if (edited === undefined || !isSame(edited, expected))
    throw byHand(named, `set ${path.join('.')} to ${JSON.stringify(value)}`);
  return edited;
}

/** The text without a declaration; `undefined` where nothing else is in it. */
export function without(text: string, named: Named): string | undefined {
  const docs = documentsOf(text);
  const at = indexOf(docs, named);
  const others = docs.filter((doc, index) => index !== at && doc.toJS() !== null).map((doc) => doc.toJS() as unknown);
  if (at >= 0 && others.length === 0) return undefined;
  const chunks = text.split(/^(?=---(?:\s|$))/m);
  // Before a first separator there may be comments alone.
  const lead = chunks.length - docs.length;
  const left = lead === 0 || lead === 1 ? chunks.filter((_, index) => index !== at + lead).join('') : '';
  if (at < 0 || !isSame(left, others)) throw byHand(named, 'take it out');
  return left;
}

function documentsOf(text: string): Doc[] {
  const docs = parseAllDocuments<ParsedNode>(text);
  return Array.isArray(docs) ? docs : [];
}

function indexOf(docs: readonly Doc[], { kind, name, namespace, usual }: Named): number {
  return docs.findIndex((doc) => {
    const object: unknown = doc.toJS();
    if (typeof object !== 'object' || object === null) return false;
    const found = object as { kind?: unknown; metadata?: { name?: unknown; namespace?: unknown } };
    return found.kind === kind && found.metadata?.name === name && (found.metadata?.namespace ?? usual) === namespace;
  });
}

/** What was cut and pasted is read again, and must say just what was meant. */
function isSame(text: string, expected: readonly unknown[]): boolean {
  const docs = documentsOf(text);
  if (docs.some(({ errors }) => errors.length > 0)) return false;
  const present = docs.map((doc) => doc.toJS() as unknown).filter((one) => one !== null);
  return isDeepStrictEqual(
    present,
    expected.filter((one) => one !== null),
  );
}

function withIn(object: JsonObject, [first = '', ...rest]: readonly string[], value: string): JsonObject {
  const inner = object[first];
  const map = typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? inner : {};
  return { ...object, [first]: rest.length === 0 ? value : withIn(map, rest, value) };
}

/** Undefined where the text is of a form that is not cut into: anchors, merges, texts over several lines. */
function edit(text: string, doc: Doc, path: readonly string[], value: string): string | undefined {
  let map: unknown = doc.contents;
  for (const [index, key] of path.entries()) {
    if (!isMap(map)) return undefined;
    const pair = pairOf(map, key);
    if (pair === undefined) return insert(text, map, path.slice(index), value);
    const node: unknown = pair.value;
    if (index < path.length - 1) map = node;
    else if (isScalar(node) && node.range && node.anchor === undefined)
      return splice(text, node.range[0], node.range[1], quote(value, isJson(map)));
  }
  return undefined;
}

function insert(text: string, map: YAMLMap, [key = '', ...rest]: readonly string[], value: string): string | undefined {
  const first = map.items[0];
  const [start] = rangeOf(first?.key) ?? [];
  if (first === undefined || start === undefined) return undefined;
  const json = isJson(map);
  const head = json ? JSON.stringify(key) : quote(key, false);
  const tail = [...rest].reverse().reduce((inner, name) => `{${quote(name, json)}: ${inner}}`, quote(value, json));
  if (map.flow === true) return splice(text, start, start, `${head}: ${tail}, `);
  // After a value on one line, so that comments stay with what they are about.
  const before = map.items.findLast((pair) => isScalar(pair.value) && isOneLine(text, pair));
  const column = start - (text.lastIndexOf('\n', start - 1) + 1);
  const line = `${' '.repeat(column)}${head}: ${tail}`;
  const [, end] = rangeOf(before?.value) ?? [];
  if (end === undefined) return splice(text, start, start, `${head}: ${tail}\n${' '.repeat(column)}`);
  const next = text.indexOf('\n', end);
  return next < 0 ? `${text}\n${line}\n` : splice(text, next, next, `\n${line}`);
}

function pairOf(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find((pair) => isScalar(pair.key) && pair.key.value === key);
}

function isOneLine(text: string, { value }: Pair): boolean {
  const [start, end] = rangeOf(value) ?? [];
  return start !== undefined && end !== undefined && end > start && !text.slice(start, end).includes('\n');
}

function rangeOf(node: unknown): readonly [number, number, number] | undefined {
  return isScalar(node) && node.range ? node.range : undefined;
}

/** JSON is YAML in which names are in quotes. */
function isJson(map: YAMLMap): boolean {
  const key: unknown = map.items[0]?.key;
  return map.flow === true && isScalar(key) && key.type === 'QUOTE_DOUBLE';
}

function quote(value: string, json: boolean): string {
  if (json) return JSON.stringify(value);
  return stringify(value, { lineWidth: 0, compat: 'yaml-1.1', defaultStringType: 'PLAIN' }).trimEnd();
}

function splice(text: string, start: number, end: number, inserted: string): string {
  return `${text.slice(0, start)}${inserted}${text.slice(end)}`;
}

function byHand({ kind, name, namespace }: Named, what: string): EspalierError {
  const message = `the declaration of ${kind} ${namespace}/${name} is written in a way that is not changed by a program: ${what} by hand`;
  return new EspalierError('CommandRefused', message);
}
