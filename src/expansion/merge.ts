import type { Json, JsonObject } from '../api/index.ts';
import { applyEdits, type Edit, insertInto, layoutOf, replaceWith } from './json-insert.ts';
import { type JsonFault, jsonPlaces, type Place, type Watched } from './json-places.ts';

/** What an installer's file is to say for an expansion. */
export interface Wanted {
  skipSteps: readonly string[];
  skipConditions: readonly string[];
  delegateConditions: readonly string[];
  files: readonly { src: string; dst: string }[];
}

export interface MergeFault {
  line: number;
  column: number;
  message: string;
}

export interface Merged {
  text: string;
  edits: Edit[];
  /** What the file says otherwise, which stays. */
  notes: string[];
}

const WATCHED: Watched = {
  config: { skipSteps: {} },
  cluster: { spec: { features: { files: {}, skipConditions: {}, delegateConditions: {} } } },
};
const FILES = 'cluster.spec.features.files';

/**
 * Joins an expansion into the text of a `tke.json`. Only additions are made, at their places: every other byte stays.
 * A text that can't take them is refused with all its faults, never half changed.
 */
export function mergeInto(text: string, wanted: Wanted): Merged | { faults: MergeFault[] } {
  const root = jsonPlaces(text, WATCHED);
  if (!('kind' in root)) return { faults: [located(text, root)] };
  const faults: JsonFault[] = [];
  check(text, root, WATCHED, '', faults);
  if (faults.length > 0) return { faults: faults.map((fault) => located(text, fault)) };
  const notes: string[] = [];
  const layout = layoutOf(text, root);
  const edits: Edit[] = [];
  const join = (place: Place, additions: JsonObject): void => {
    const missing: [string, Json][] = [];
    for (const [name, value] of Object.entries(additions)) {
      const found = place.members.find((member) => member.name === name)?.place;
      if (found === undefined) missing.push([name, value]);
      else if (found.kind === 'null') edits.push(replaceWith(text, found, value, layout));
      else if (!Array.isArray(value)) join(found, value as JsonObject);
      else
        edits.push(
          insertInto(
            text,
            found,
            value.map((item) => [undefined, item]),
            layout,
          ),
        );
    }
    if (missing.length > 0) edits.push(insertInto(text, place, missing, layout));
  };
  join(root, missingFrom(text, root, wanted, notes));
  return { text: applyEdits(text, edits), edits, notes };
}

/** What is wanted and not there yet, in the shape of the file. Empty when there is nothing. */
function missingFrom(text: string, root: Place, wanted: Wanted, notes: string[]): JsonObject {
  const present = (path: string): unknown[] =>
    (at(root, path)?.items ?? []).map((item): unknown => JSON.parse(text.slice(item.start, item.end)));
  const names = (path: string, list: readonly string[]): string[] => {
    const there = new Set(present(path));
    return [...new Set(list)].filter((name) => !there.has(name));
  };
  const sources = new Map((present(FILES) as { src?: string; dst: string }[]).map(({ src, dst }) => [dst, src]));
  const files: { src: string; dst: string }[] = [];
  for (const { src, dst } of wanted.files) {
    const there = sources.get(dst);
    if (!sources.has(dst)) files.push({ src, dst });
    else if (there !== src) notes.push(`${dst} stays as the file has it, from ${there}, and not from ${src}`);
    sources.set(dst, there ?? src);
  }
  const features = filled({
    files,
    skipConditions: names('cluster.spec.features.skipConditions', wanted.skipConditions),
    delegateConditions: names('cluster.spec.features.delegateConditions', wanted.delegateConditions),
  });
  return filled({
    config: filled({ skipSteps: names('config.skipSteps', wanted.skipSteps) }),
    cluster: filled({ spec: filled({ features }) }),
  });
}

/** Without fields that are empty. */
function filled(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => Object.keys(value ?? {}).length > 0));
}

function at(root: Place, path: string): Place | undefined {
  let place: Place | undefined = root;
  for (const name of path.split('.')) place = place?.members.find((member) => member.name === name)?.place;
  return place;
}

function check(text: string, place: Place, watched: Watched, path: string, faults: JsonFault[]): void {
  const names = Object.keys(watched);
  const kind = names.length > 0 ? 'object' : 'array';
  const isAbsent = place.kind === 'null' && path !== '';
  if (isAbsent) return;
  if (place.kind !== kind) {
    faults.push({ at: place.start, message: `${path || 'the file'} is ${described(place)}; it has to be an ${kind}` });
    return;
  }
  for (const item of place.items) checkItem(text, item, path, faults);
  const seen = new Set<string>();
  for (const member of place.members) {
    const own = names.find((name) => name.toLowerCase() === member.name.toLowerCase());
    if (own === undefined) continue;
    const where = path === '' ? own : `${path}.${own}`;
    // The installer takes names in any case, and of two the last: which one is meant is not ours to guess.
    if (own !== member.name) faults.push({ at: member.start, message: `"${member.name}": write it "${own}"` });
    else if (seen.has(own)) faults.push({ at: member.start, message: `${where} is written twice; remove one` });
    else check(text, member.place, watched[own] ?? {}, where, faults);
    seen.add(own);
  }
}

function checkItem(text: string, item: Place, path: string, faults: JsonFault[]): void {
  if (path !== FILES) {
    if (item.kind !== 'string')
      faults.push({ at: item.start, message: `${path} holds ${described(item)}; it takes texts` });
    return;
  }
  const value: unknown = JSON.parse(text.slice(item.start, item.end));
  const { src, dst } = (value ?? {}) as { src?: unknown; dst?: unknown };
  if (typeof src !== 'string' || typeof dst !== 'string')
    faults.push({ at: item.start, message: `${path} takes objects with the texts "src" and "dst"` });
}

function described({ kind }: Place): string {
  return kind === 'null' ? 'null' : kind === 'object' || kind === 'array' ? `an ${kind}` : `a ${kind}`;
}

function located(text: string, { at: offset, message }: JsonFault): MergeFault {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return { line, column: offset - before.lastIndexOf('\n'), message };
}
