import { EspalierError } from '../api/index.ts';

/** What stands at `head.repo.id` in an answer; undefined where any step of the way is missing. */
export function at(value: unknown, path: string): unknown {
  let here = value;
  for (const step of path.split('.')) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Record<string, unknown>)[step];
  }
  return here;
}

/** Text that the API promises to be there. */
export function textAt(value: unknown, path: string): string {
  const found = at(value, path);
  if (typeof found !== 'string' || found === '') throw otherShape(path, 'a text');
  return found;
}

export function textOrNothing(value: unknown, path: string): string | undefined {
  const found = at(value, path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

export function numberAt(value: unknown, path: string): number {
  const found = at(value, path);
  if (typeof found !== 'number' || !Number.isSafeInteger(found)) throw otherShape(path, 'a whole number');
  return found;
}

/** An id, which forges write as a number or as text. */
export function idAt(value: unknown, path: string): string {
  const found = at(value, path);
  if (typeof found === 'number' || (typeof found === 'string' && found !== '')) return String(found);
  throw otherShape(path, 'an id');
}

/** Milliseconds since 1970 of a time such as `2026-11-18T16:00:00Z`. */
export function timeAt(value: unknown, path: string): number {
  const time = Date.parse(textAt(value, path));
  if (Number.isNaN(time)) throw otherShape(path, 'a time');
  return time;
}

/** A list, at `path` or as the answer itself. Gitea writes an empty one in a field as null, as Go does. */
export function listAt(value: unknown, path?: string): unknown[] {
  const found = path === undefined ? value : at(value, path);
  if (path !== undefined && found === null) return [];
  if (!Array.isArray(found)) throw otherShape(path ?? 'answer', 'a list');
  return found;
}

/** A whole commit id: an abbreviated one would name another commit one day. */
export function commitAt(value: unknown, path: string): string {
  const found = textAt(value, path);
  if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(found)) throw otherShape(path, 'the id of a commit');
  return found;
}

/** Nothing of the answer is quoted: it may be anybody's. */
export function otherShape(path: string, expected: string): EspalierError {
  return new EspalierError(
    'ForgeBadAnswer',
    `The forge answered in another form than its API's: \`${path}\` is not ${expected}; check \`spec.forge.kind\` and \`spec.forge.url\`.`,
  );
}
