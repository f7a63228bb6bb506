import { setImmediate } from 'node:timers/promises';
import { listIn, loadText, mapIn, textIn } from './text-yaml.ts';

/** One version of a chart as a repository's index tells of it. */
export interface IndexedVersion {
  version: string;
  /** sha256:… of the archive, when the index says it. */
  digest: string | undefined;
  url: string;
  created: string;
}

const SHA256 = /^(?:sha256:)?([0-9a-f]{64})$/i;
const AT_ONCE = 50;
/** What is parsed in one go stays this small, as nothing else runs meanwhile. */
const MAX_ITEM = 1024 * 1024;
const MAX_WHOLE = 4 * 1024 * 1024;

/** The versions in the part of an index that is about one chart. What has no version or no address is passed over. */
export async function readEntry(text: string, layout: 'yaml' | 'json'): Promise<IndexedVersion[]> {
  const items = layout === 'json' ? listIn(JSON.parse(text)) : await readItems(text);
  return items.flatMap(versionOf);
}

export function versionOf(item: unknown): IndexedVersion[] {
  const fields = mapIn(item);
  const version = textIn(fields.version);
  const url = listIn(fields.urls)
    .map(textIn)
    .find((each) => each !== undefined);
  if (version === undefined || url === undefined) return [];
  const sum = SHA256.exec(textIn(fields.digest) ?? '')?.[1]?.toLowerCase();
  const digest = sum === undefined ? undefined : `sha256:${sum}`;
  return [{ version, digest, url, created: textIn(fields.created) ?? '' }];
}

/** Item by item, so that a list of thousands leaves time for others; a list that can't be taken apart is read as one. */
async function readItems(text: string): Promise<unknown[]> {
  const lines = text.split('\n');
  const first = lines.find((line) => line.trim() !== '' && !line.trimStart().startsWith('#')) ?? '';
  const [, margin] = /^( *)-(?:\s|$)/.exec(first) ?? [];
  if (margin === undefined) return text.trim() === '' ? [] : listIn(loadText(text));
  const parts: string[][] = [];
  for (const line of lines) {
    if (line.startsWith(`${margin}-`) && /^[\s]|^$/.test(line.slice(margin.length + 1))) parts.push([]);
    parts.at(-1)?.push(line);
  }
  const items: unknown[] = [];
  try {
    for (const [at, part] of parts.entries()) {
      const item = part.join('\n');
      if (item.length > MAX_ITEM) throw new Error(`a version says more than ${MAX_ITEM} characters about itself`);
      items.push(...listIn(loadText(item)));
      if (at % AT_ONCE === AT_ONCE - 1) await setImmediate();
    }
    return items;
  } catch (error) {
    if (text.length > MAX_WHOLE) throw error;
    // An alias to another item: rare, and slower.
    return listIn(loadText(text));
  }
}
