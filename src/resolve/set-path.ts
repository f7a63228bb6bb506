import type { Json, JsonObject } from '../api/index.ts';

type Step = string | number;
export type SetOutcome = { ok: true; values: JsonObject } | { ok: false; message: string };

/** As `helm --set` bounds them, so that one short key can't fill the memory. */
const MAX_INDEX = 65_536;
const MAX_DEPTH = 30;
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Puts one value at a `--set` path (`a.b[0].c`, `\.` for a dot in a name) into a copy of the values. The text is typed
 * as `--set` types it; unlike there, commas and braces in it mean nothing, for a password may hold them.
 * The message never holds the value.
 */
export function setValue(values: JsonObject, path: string, text: string): SetOutcome {
  return setAt(values, path, typed(text));
}

/** The same for text that stays text, whatever it looks like. */
export function setText(values: JsonObject, path: string, text: string): SetOutcome {
  return setAt(values, path, text);
}

function setAt(values: JsonObject, path: string, value: Json): SetOutcome {
  const steps = parsePath(path);
  if (typeof steps === 'string')
    return { ok: false, message: `"${path.slice(0, 80)}" is not a path to a value: ${steps}` };
  return { ok: true, values: asObject(put(values, steps, value)) };
}

/** Puts a whole document at a `--set` path: maps merge into it, anything else is replaced. */
export function nest(path: string, document: JsonObject): SetOutcome {
  const steps = path === '' ? [] : parsePath(path);
  if (typeof steps === 'string')
    return { ok: false, message: `"${path.slice(0, 80)}" is not a path to a value: ${steps}` };
  return { ok: true, values: asObject(put({}, steps, document)) };
}

function parsePath(path: string): Step[] | string {
  const steps: Step[] = [];
  const step = /(?:^|(?<=.)\.)((?:\\.|[^.[\]\\])+)|\[(\d{1,6})\]/y;
  while (step.lastIndex < path.length || steps.length === 0) {
    const [, name, index] = step.exec(path) ?? [];
    if (name !== undefined) {
      const key = name.replace(/\\(.)/g, '$1');
      if (FORBIDDEN.has(key)) return `the name ${key} is not allowed`;
      steps.push(key);
    } else if (index !== undefined && steps.length > 0) {
      if (Number(index) > MAX_INDEX) return `the index ${index} is over ${MAX_INDEX}`;
      steps.push(Number(index));
    } else {
      return 'a name is missing in it';
    }
    if (steps.length > MAX_DEPTH) return `it is deeper than ${MAX_DEPTH} levels`;
  }
  return steps;
}

function put(target: Json | undefined, steps: readonly Step[], value: Json): Json {
  const [step, ...rest] = steps;
  if (step === undefined) return value;
  if (typeof step === 'number') {
    const list = Array.isArray(target) ? [...target] : [];
    while (list.length < step) list.push(null);
    list[step] = put(list[step], rest, value);
    return list;
  }
  const map = new Map(Object.entries(asObject(target)));
  map.set(step, put(map.get(step), rest, value));
  return Object.fromEntries(map);
}

function asObject(value: Json | undefined): JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
}

function typed(text: string): Json {
  const word = text.toLowerCase();
  if (word === 'true') return true;
  if (word === 'false') return false;
  if (word === 'null') return null;
  if (text === '0') return 0;
  if (/^-?[1-9]\d*$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  return text;
}
