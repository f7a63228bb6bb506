import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import type { Json } from '../api/index.ts';
import { FORBIDDEN_KEYS } from './forbidden.ts';
import { aliasTargets } from './yaml-anchors.ts';

export interface ValueFault {
  offset: number;
  message: string;
}

/** Values that one document may unfold to, aliases counted as often as they are used: a bomb ends here. */
const MAX_VALUES = 100_000;
const MAX_DEPTH = 64;

/**
 * The JSON of a YAML document, and everything in it that has no place in a declaration. What is faulty is left out of
 * the value, so that it can still be told whose declaration it is.
 */
export function toJson(document: Document.Parsed): { value: Json; faults: ValueFault[] } {
  const reader = new ValueReader(document);
  const value = reader.read(document.contents, 0);
  return { value, faults: reader.faults };
}

class ValueReader {
  readonly faults: ValueFault[] = [];
  readonly #document: Document.Parsed;
  #targets: ReadonlyMap<Alias, Node> | undefined;
  #left = MAX_VALUES;
  #spent = false;

  constructor(document: Document.Parsed) {
    this.#document = document;
  }

  read(node: unknown, depth: number): Json {
    this.#left -= 1;
    if (this.#left < 0)
      return this.#giveUp(node, `the document unfolds to more than ${MAX_VALUES} values: use fewer aliases`);
    if (depth > MAX_DEPTH) return this.#giveUp(node, `the document is nested deeper than ${MAX_DEPTH} levels`);
    if (isAlias(node)) {
      const target = this.#targetOf(node);
      return target === undefined
        ? this.#fault(node, 'the alias refers to nothing before it')
        : this.read(target, depth + 1);
    }
    if (isSeq(node)) return node.items.map((item) => this.read(item, depth + 1));
    if (isMap(node)) return Object.fromEntries(this.#fields(node, depth));
    if (isScalar(node)) return this.#scalar(node, node.value);
    return null;
  }

  #scalar(node: Node, value: unknown): Json {
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    // JSON has no minus zero.
    if (typeof value === 'number' && Number.isFinite(value)) return value + 0;
    return this.#fault(node, 'the value has no form in JSON');
  }

  /** Own fields win over merged ones, and earlier merged maps over later ones. */
  #fields(map: YAMLMap, depth: number): Map<string, Json> {
    const fields = new Map<string, Json>();
    const merged: unknown[] = [];
    for (const pair of map.items) {
      if (isMergeKey(pair)) {
        merged.push(...(isSeq(pair.value) ? pair.value.items : [pair.value]));
        continue;
      }
      const key = keyText(pair.key);
      if (key === undefined) this.#fault(pair.key, 'a key must be plain text');
      else if (FORBIDDEN_KEYS.has(key)) this.#fault(pair.key, `the key ${key} is not allowed`);
      else if (fields.has(key)) this.#fault(pair.key, `the key ${shown(key)} is given twice`);
      else fields.set(key, this.read(pair.value, depth + 1));
    }
    for (const source of merged) {
      const target = isAlias(source) ? this.#targetOf(source) : source;
      if (!isMap(target)) {
        this.#fault(source, 'what << merges must be a map');
        continue;
      }
      this.#left -= 1;
      if (this.#left < 0 || depth > MAX_DEPTH) {
        this.#giveUp(source, 'the document merges (<<) too much');
        break;
      }
      for (const [key, value] of this.#fields(target, depth + 1)) if (!fields.has(key)) fields.set(key, value);
    }
    return fields;
  }

  #targetOf(alias: Alias): Node | undefined {
    this.#targets ??= aliasTargets(this.#document);
    return this.#targets.get(alias);
  }

  /** After this nothing more is read, and nothing more is said. */
  #giveUp(node: unknown, message: string): null {
    if (!this.#spent) this.#fault(node, message);
    this.#spent = true;
    this.#left = 0;
    return null;
  }

  #fault(node: unknown, message: string): null {
    const offset = isNodeLike(node) ? (node.range?.[0] ?? 0) : 0;
    if (!this.#spent) this.faults.push({ offset, message });
    return null;
  }
}

/** A key as it is written: `1` and `yes` are names here, whatever they would be as values. */
export function keyText(key: unknown): string | undefined {
  if (!isScalar(key)) return undefined;
  if (typeof key.value === 'string') return key.value;
  return key.value === null || key.source === '' ? undefined : key.source;
}

export function isMergeKey(pair: Pair): boolean {
  return isScalar(pair.key) && pair.key.value === '<<' && pair.key.type === 'PLAIN';
}

function isNodeLike(node: unknown): node is Node {
  return typeof node === 'object' && node !== null && 'range' in node;
}

function shown(key: string): string {
  return JSON.stringify(key.length > 40 ? `${key.slice(0, 40)}…` : key);
}
