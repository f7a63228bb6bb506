import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { describeBytes } from '../git/limits.ts';
import { refused } from './errors.ts';
import type { Answer } from './transport.ts';

export interface Downloaded {
  bytes: number;
  /** sha256:… of what was written. */
  digest: string;
}

/** Writes an answer to a new file, never more than `limit` bytes of it. `unzip`: what was compressed for the way is inflated. */
export async function download(
  answer: Answer,
  file: string,
  limit: number,
  what: string,
  { unzip = false }: { unzip?: boolean } = {},
): Promise<Downloaded> {
  const hash = createHash('sha256');
  let bytes = 0;
  async function* counted(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const part of parts) {
      bytes += part.length;
      if (bytes > limit) throw refused(`${what} is larger than ${describeBytes(limit)}, the limit.`, { limit });
      hash.update(part);
      yield part;
    }
  }
  const to = createWriteStream(file, { flags: 'wx', mode: 0o600 });
  if (unzip && answer.headers['content-encoding'] === 'gzip') {
    await pipeline(answer.body, createGunzip(), counted, to);
  } else {
    await pipeline(answer.body, counted, to);
  }
  return { bytes, digest: `sha256:${hash.digest('hex')}` };
}

/** A small answer as a whole. */
export async function readAll(answer: Answer, limit: number, what: string): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body) {
    bytes += part.length;
    if (bytes > limit) throw refused(`${what} is larger than ${describeBytes(limit)}, the limit.`, { limit });
    parts.push(part);
  }
  return Buffer.concat(parts);
}
