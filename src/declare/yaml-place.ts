import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
import { stepsOf } from './pointer.ts';
import { isMergeKey, keyText } from './yaml-value.ts';

/** Where something is in a text, and whether it is what was asked for or just the nearest thing around it. */
export interface Found {
  offset: number;
  exact: boolean;
}

/** Finds the value at a JSON pointer. A map or list is shown by its key, which is where a reader looks for it. */
export function find(document: Document.Parsed, pointer: string): Found {
  let node: unknown = document.contents;
  let offset = offsetOf(node) ?? 0;
  for (const step of stepsOf(pointer)) {
    const next = childOf(document, resolve(document, node), step);
    if (next === undefined) return { offset, exact: false };
    node = next.value;
    offset = (isScalar(node) ? offsetOf(node) : undefined) ?? offsetOf(next.key) ?? offsetOf(node) ?? offset;
  }
  return { offset, exact: true };
}

interface Child {
  key?: unknown;
  value: unknown;
}

const MAX_MERGES = 64;

function childOf(document: Document.Parsed, node: unknown, step: string, depth = 0): Child | undefined {
  if (isSeq(node)) {
    const value = /^\d{1,9}$/.test(step) ? node.items[Number(step)] : undefined;
    return value === undefined ? undefined : { value };
  }
  if (!isMap(node) || depth > MAX_MERGES) return undefined;
  const own = node.items.find((pair) => !isMergeKey(pair) && keyText(pair.key) === step);
  if (own !== undefined) return { key: own.key, value: own.value };
  for (const source of mergedInto(node)) {
    const merged = childOf(document, resolve(document, source), step, depth + 1);
    if (merged !== undefined) return merged;
  }
  return undefined;
}

function mergedInto(map: YAMLMap): unknown[] {
  return map.items.filter(isMergeKey).flatMap((pair) => (isSeq(pair.value) ? pair.value.items : [pair.value]));
}

function resolve(document: Document.Parsed, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

function offsetOf(node: unknown): number | undefined {
  const range = typeof node === 'object' && node !== null && 'range' in node ? (node as Node).range : undefined;
  return range?.[0];
}
