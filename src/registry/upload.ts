import { EspalierError } from '../api/index.ts';
import type { Answer } from '../charts/transport.ts';
import { discard } from '../git/http.ts';
import type { Put, PutFrom } from './registry.ts';
import { type Descriptor, describePlace, type Place } from './types.ts';
import type { Wire } from './wire.ts';

export interface Uploader {
  wire: Wire;
  refuse(answer: Answer, place: Place, what: string): Promise<never>;
}

/**
 * Up to this a blob goes in one piece: every registry takes that, and not every one takes several. What is larger is read
 * once and sent chunk by chunk, each of them again where it has to be.
 */
export const ONE_PIECE = 64 * 1024 * 1024;
const CHUNK = 16 * 1024 * 1024;

/** Sends a blob, in one request or, where it is large, chunk by chunk. */
export async function uploadBlob(
  { wire, refuse }: Uploader,
  place: Place,
  descriptor: Descriptor,
  open: () => AsyncIterable<Uint8Array>,
  { mount, signal }: PutFrom,
): Promise<Put> {
  const { digest, size } = descriptor;
  const what = `part ${digest}`;
  const query = mount === undefined ? '' : `?${new URLSearchParams({ mount: digest, from: mount })}`;
  const begun = await wire.ask(place, {
    method: 'POST',
    path: `blobs/uploads/${query}`,
    headers: NOTHING,
    push: true,
    signal,
  });
  if (begun.status === 201) {
    await discard(begun.body);
    return 'mounted';
  }
  let location = await locationOf({ wire, refuse }, begun, place, what);
  const type = 'application/octet-stream';
  if (size > ONE_PIECE) {
    let at = 0;
    for await (const chunk of inChunks(open(), chunkFor(begun))) {
      const range = `${at}-${at + chunk.length - 1}`;
      const answer = await wire.ask(place, {
        ...{ method: 'PATCH', path: location, unhurried: true, push: true, signal, body: () => chunk },
        headers: { 'content-type': type, 'content-range': range, 'content-length': String(chunk.length) },
      });
      location = await locationOf({ wire, refuse }, answer, place, what);
      at += chunk.length;
    }
  }
  const end = new URL(location);
  end.searchParams.set('digest', digest);
  const rest = size > ONE_PIECE ? NOTHING : { 'content-type': type, 'content-length': String(size) };
  const ended = await wire.ask(place, {
    ...{ method: 'PUT', path: end.href, headers: rest, unhurried: true, push: true, signal },
    ...(size > ONE_PIECE ? {} : { body: () => open() }),
  });
  if (ended.status !== 201 && ended.status !== 204) return await refuse(ended, place, what);
  await discard(ended.body);
  return 'sent';
}

const NOTHING = { 'content-length': '0' };

/** Where the upload goes on: the registry says it anew with each answer. */
async function locationOf({ wire, refuse }: Uploader, answer: Answer, place: Place, what: string): Promise<string> {
  if (answer.status !== 202) return await refuse(answer, place, what);
  await discard(answer.body);
  const { location } = answer.headers;
  const target = location === undefined ? null : URL.parse(location, answer.url.href);
  if (target === null)
    throw new EspalierError(
      'RegistryFailed',
      `${place.host} takes an upload to ${describePlace(place)} but does not say where.`,
    );
  if (wire.originOf(place).startsWith('https:') && target.protocol !== 'https:')
    throw new EspalierError(
      'RegistryRefused',
      `${place.host} sends an upload from https to ${target.origin}; it is not followed there.`,
    );
  return target.href;
}

function chunkFor(begun: Answer): number {
  const least = Number(begun.headers['oci-chunk-min-length']);
  return Number.isSafeInteger(least) && least > CHUNK && least <= 16 * CHUNK ? least : CHUNK;
}

async function* inChunks(parts: AsyncIterable<Uint8Array>, length: number): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of parts) {
    held.push(part);
    bytes += part.length;
    while (bytes >= length) {
      const all = Buffer.concat(held);
      yield all.subarray(0, length);
      held = [all.subarray(length)];
      bytes = all.length - length;
    }
  }
  if (bytes > 0) yield Buffer.concat(held);
}
