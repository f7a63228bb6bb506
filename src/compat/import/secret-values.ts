import type { Json, JsonObject } from '../../api/index.ts';
import { isMap } from './read.ts';

const SECRET =
  /pass(word|phrase|wd)?$|secret$|token$|credential|api[-_]?key$|private[-_]?key$|access[-_]?key|auth[-_]?key$|connection[-_]?string|\bdsn$|htpasswd/i;
/** Names of objects and keys that hold a secret, and switches, are no secrets. */
const HARMLESS = /^(existing|create|use|enable|mount|auto)|name$|ref$|key$|path$|file$|enabled$/i;
const HAS_CREDENTIALS = /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]+:[^/\s@]+@/i;

/** Paths of values that look like secrets, by their names or as a URL with a password. */
export function secretPaths(values: JsonObject): string[][] {
  return found(values, []);
}

function found(value: Json, path: string[]): string[][] {
  if (Array.isArray(value)) {
    // A list is replaced as a whole: it can't be told apart.
    return value.some((one, index) => found(one, [...path, String(index)]).length > 0) ? [path] : [];
  }
  if (isMap(value)) return Object.entries(value).flatMap(([name, one]) => found(one, [...path, name]));
  if (typeof value !== 'string' || value === '') return [];
  const name = path.at(-1) ?? '';
  const named = SECRET.test(name) && !(HARMLESS.test(name) && !/(api|private|access|auth)[-_]?key$/i.test(name));
  return named || HAS_CREDENTIALS.test(value) || value.startsWith('-----BEGIN ') ? [path] : [];
}

/** The values at the paths, and the others. */
export function splitValues(
  values: JsonObject,
  paths: readonly (readonly string[])[],
): { secret: JsonObject; rest: JsonObject } {
  const secret: JsonObject = {};
  const rest: JsonObject = {};
  for (const [name, value] of Object.entries(values)) {
    const inside = paths.filter(([first]) => first === name).map((path) => path.slice(1));
    if (inside.length === 0) rest[name] = value;
    else if (inside.some((path) => path.length === 0) || !isMap(value)) secret[name] = value;
    else {
      const split = splitValues(value, inside);
      if (Object.keys(split.secret).length > 0) secret[name] = split.secret;
      if (Object.keys(split.rest).length > 0) rest[name] = split.rest;
    }
  }
  return { secret, rest };
}
