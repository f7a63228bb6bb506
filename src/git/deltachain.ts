import type { ByteCache } from './bytecache.ts';
import { applyDelta } from './delta.ts';
import { damaged, type GitObject } from './objects.ts';
import { type ByteSource, type PackEntry, readEntry } from './packentry.ts';

/** Git packs 50 deep by default and refuses more than 4095. */
const MAX_CHAIN = 4095;

export interface ChainOptions {
  source: ByteSource;
  maxObjectBytes: number;
  /** Objects by offset: bases are used many times. */
  cache: Pick<ByteCache<number, GitObject>, 'get' | 'set'>;
  /** Where the pack holds an object, for deltas that name their base; undefined when it does not. */
  find(oid: string): number | undefined;
}

/** The whole object at an offset, with every delta on the way to it applied. `start` is its entry when that is already read. */
export async function readWhole(offset: number, options: ChainOptions, start?: PackEntry): Promise<GitObject> {
  const { cache, maxObjectBytes } = options;
  const deltas: { at: number; data: Buffer }[] = [];
  let at = offset;
  let object = cache.get(at);
  let entry = start;
  while (object === undefined) {
    entry ??= await readEntry(options.source, at, maxObjectBytes);
    if (entry.type === 'delta') {
      deltas.push({ at, data: entry.data });
      if (deltas.length > MAX_CHAIN) throw damaged('a delta chain without an end');
      at = baseOffset(entry, options);
      object = cache.get(at);
      entry = undefined;
    } else {
      object = { type: entry.type, data: entry.data };
      cache.set(at, object, object.data.length);
    }
  }
  for (const delta of deltas.reverse()) {
    object = { type: object.type, data: applyDelta(object.data, delta.data, maxObjectBytes) };
    cache.set(delta.at, object, object.data.length);
  }
  return object;
}

function baseOffset(entry: PackEntry, options: ChainOptions): number {
  if (typeof entry.base === 'number') return entry.base;
  const found = options.find(entry.base ?? '');
  if (found === undefined) throw damaged(`a delta on ${entry.base}, which its pack lacks`);
  return found;
}
