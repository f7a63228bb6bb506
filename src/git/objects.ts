import { createHash } from 'node:crypto';
import { EspalierError } from '../api/index.ts';
import type { EntryType } from './tree.ts';

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

export interface GitObject {
  type: ObjectType;
  data: Buffer;
}

export interface RawEntry {
  name: string;
  oid: string;
  mode: string;
  type: EntryType;
}

export interface Commit {
  oid: string;
  tree: string;
  parents: string[];
  author: { name: string; email: string };
  /** When it was committed, as an ISO time. */
  committedAt: string;
  message: string;
}

export function isOid(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text);
}

export function hashObject(type: ObjectType, data: Uint8Array): string {
  return createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex');
}

/** Entries of a tree object in its own order. Throws on bytes that are not one. `latin1` gives a character for each byte of a name. */
export function parseTree(data: Buffer, names: 'utf8' | 'latin1' = 'utf8'): RawEntry[] {
  const entries: RawEntry[] = [];
  let at = 0;
  while (at < data.length) {
    const space = data.indexOf(0x20, at);
    const nul = data.indexOf(0, space + 1);
    if (space < 0 || nul < 0 || nul + 21 > data.length) throw damaged('a folder list');
    const mode = data.toString('latin1', at, space).padStart(6, '0');
    const name = data.toString(names, space + 1, nul);
    entries.push({ name, mode, type: typeOfMode(mode), oid: data.toString('hex', nul + 1, nul + 21) });
    at = nul + 21;
  }
  return entries;
}

function typeOfMode(mode: string): EntryType {
  if (mode.startsWith('04')) return 'folder';
  if (mode.startsWith('10')) return 'file';
  if (mode.startsWith('12')) return 'link';
  if (mode.startsWith('16')) return 'submodule';
  throw damaged(`a folder list (mode ${mode.slice(0, 12)})`);
}

export function parseCommit(oid: string, data: Buffer): Commit {
  const end = data.indexOf('\n\n');
  const head = data.toString('utf8', 0, end < 0 ? data.length : end);
  const commit: Commit = {
    oid,
    tree: '',
    parents: [],
    author: { name: '', email: '' },
    committedAt: new Date(0).toISOString(),
    message: end < 0 ? '' : data.toString('utf8', end + 2),
  };
  for (const line of head.split('\n')) {
    if (line.startsWith('tree ')) commit.tree = line.slice(5);
    else if (line.startsWith('parent ')) commit.parents.push(line.slice(7));
    else if (line.startsWith('author ')) commit.author = parsePerson(line.slice(7));
    else if (line.startsWith('committer ')) commit.committedAt = parseTime(line);
  }
  if (!isOid(commit.tree) || !commit.parents.every(isOid)) throw damaged(`commit ${oid}`);
  return commit;
}

/** What an annotated tag points at. */
export function parseTag(data: Buffer): { object: string; type: string } {
  const match = /^object ([0-9a-f]{40})\ntype ([a-z]+)\n/.exec(data.toString('latin1', 0, 80));
  if (match?.[1] === undefined || match[2] === undefined) throw damaged('a tag');
  return { object: match[1], type: match[2] };
}

function parsePerson(text: string): { name: string; email: string } {
  const match = /^(.*?) ?<([^>]*)>/.exec(text);
  return { name: match?.[1] ?? text, email: match?.[2] ?? '' };
}

function parseTime(line: string): string {
  const seconds = Number(/> (\d{1,11})(?: [+-]\d{4})?$/.exec(line)?.[1] ?? 0);
  return new Date(seconds * 1000).toISOString();
}

export function damaged(what: string, cause?: unknown): EspalierError {
  return new EspalierError(
    'GitStoreDamaged',
    `The stored copy of the repository holds ${what} that can't be read; it is fetched anew.`,
    { cause },
  );
}
