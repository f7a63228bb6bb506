import { EspalierError } from '../api/index.ts';
import { memberPath, type TarMember } from '../charts/tar-read.ts';
import { inMemory } from '../mirror/charts.ts';
import { proven, type Registry } from '../registry/registry.ts';
import type { Descriptor, Place } from '../registry/types.ts';
import { ONE_PIECE } from '../registry/upload.ts';
import { storedGzip } from './stored-gzip.ts';

/** A part that repositories of one registry lack. */
export interface Need {
  descriptor: Descriptor;
  lacking: Place[];
  /** It is not the file itself, but that in a gzip which compresses nothing. */
  isWrapped?: boolean;
  /** A repository that has it: others may take it from there. */
  has?: Place | undefined;
}

export interface SendOptions {
  registry: Registry;
  /** What a package, or an image archive in it, holds; read anew for each pass. */
  members(): AsyncIterable<TarMember>;
  signal: AbortSignal;
  onBytes(count: number): void;
  /** A place has the part now, or can't be given it. */
  onPart(digest: string, place: Place, error?: unknown): void;
}

const PARALLEL = 4;

/** Where the content has gone by already: the next pass has it again. */
const GONE_BY = new Error('the content has gone by');

/**
 * Sends the parts of something that can only be read from its beginning to its end, in the order in which they come. Small ones
 * are held while they are sent, several at a time; a large one is sent as it is read, so that nothing large is ever in memory
 * or on disk. `needs` is by path, and is used up. Resolves when every place of every need was told of.
 */
export async function sendParts(needs: Map<string, Need>, options: SendOptions): Promise<void> {
  // Another pass is for what is large, belongs into several repositories, and can't be taken from one to the other.
  for (let before = -1; needs.size > 0 && countOf(needs) !== before; ) {
    before = countOf(needs);
    await onePass(needs, options);
  }
  for (const [path, { descriptor, lacking }] of needs)
    for (const place of lacking) options.onPart(descriptor.digest, place, changed(path));
}

async function onePass(needs: Map<string, Need>, options: SendOptions): Promise<void> {
  const { members, signal } = options;
  const underWay = new Set<Promise<void>>();
  let held = 0;
  try {
    for await (const member of members()) {
      signal.throwIfAborted();
      const path = memberPath(member.path);
      const need = needs.get(path);
      if (need === undefined || member.type !== 'file') continue;
      const { size } = need.descriptor;
      const content = need.isWrapped === true ? storedGzip(member.content()) : member.content();
      if (size > ONE_PIECE) {
        await sendAsItComes(need, content, options);
        if (need.lacking.length === 0) needs.delete(path);
      } else {
        needs.delete(path);
        while (underWay.size >= PARALLEL || (held > 0 && held + size > ONE_PIECE)) await Promise.race(underWay);
        const bytes = Buffer.concat(await Array.fromAsync(content));
        held += size;
        const sending = sendHeld(need, bytes, options).finally(() => {
          held -= size;
          underWay.delete(sending);
        });
        underWay.add(sending);
      }
      if (needs.size === 0) break;
    }
  } finally {
    await Promise.all(underWay);
  }
}

async function sendHeld(need: Need, bytes: Uint8Array, options: SendOptions): Promise<void> {
  await spread(need, () => proven(inMemory(bytes), need.descriptor, damaged(need)), options);
  options.onBytes(bytes.length);
}

async function sendAsItComes(need: Need, content: AsyncGenerator<Uint8Array>, options: SendOptions): Promise<void> {
  let hasGone = false;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const part of proven(content, need.descriptor, damaged(need))) {
      options.onBytes(part.length);
      yield part;
    }
  };
  await spread(
    need,
    () => {
      if (hasGone) throw GONE_BY;
      hasGone = true;
      return counted();
    },
    options,
  );
}

/** To every place that lacks it: the next one may take it from the one before. */
async function spread(need: Need, open: () => AsyncIterable<Uint8Array>, options: SendOptions): Promise<void> {
  const { registry, signal, onPart } = options;
  const { descriptor } = need;
  const left: Place[] = [];
  for (const place of need.lacking) {
    const mount = need.has === undefined ? {} : { mount: need.has.repository };
    try {
      await registry.putBlob(place, descriptor, open, { ...mount, signal });
      need.has = place;
      onPart(descriptor.digest, place);
    } catch (error) {
      if (error === GONE_BY) left.push(place);
      else onPart(descriptor.digest, place, error);
    }
  }
  need.lacking = left;
}

function countOf(needs: ReadonlyMap<string, Need>): number {
  return [...needs.values()].reduce((total, { lacking }) => total + lacking.length, 0);
}

function damaged({ descriptor }: Need): (why: string) => EspalierError {
  return (why) =>
    new EspalierError('ImageDamaged', `the package holds a damaged part ${descriptor.digest}: ${why}; build it again`, {
      retry: false,
    });
}

function changed(path: string): EspalierError {
  return new EspalierError('ExpansionInvalid', `${path} has left the package while it was pushed; push it again`);
}
