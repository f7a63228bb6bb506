import { createHash } from 'node:crypto';
import { EspalierError } from '../api/index.ts';
import type { Answer } from '../charts/transport.ts';
import { discard, readWhole } from '../git/http.ts';
import { digestOf, mediaTypeOf } from './contents.ts';
import { complain } from './failure.ts';
import { type Descriptor, DIGEST, describePlace, type Manifest, MEDIA, type Place } from './types.ts';
import { uploadBlob } from './upload.ts';
import { type Ask, Wire, type WireOptions } from './wire.ts';

const ACCEPT = [MEDIA.index, MEDIA.dockerList, MEDIA.manifest, MEDIA.dockerManifest].join(', ');
/** What distribution and others take. */
const MANIFEST_BYTES = 4 * 1024 * 1024;

export interface Registry {
  /** What a tag or digest is, without fetching it: HEAD is not counted as a pull where pulls are counted. */
  look(
    place: Place,
    reference: string,
    signal?: AbortSignal,
  ): Promise<{ digest: string; mediaType: string } | undefined>;
  /** Undefined when there is none. Its digest is computed, not believed. */
  manifest(place: Place, reference: string, signal?: AbortSignal): Promise<Manifest | undefined>;
  hasBlob(place: Place, digest: string, signal?: AbortSignal): Promise<boolean>;
  /** The parts of a blob; the last one is given only after all of them proved to be what the digest says. */
  blob(place: Place, descriptor: Descriptor, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /** Nothing is sent when it is there, or can be had from a repository beside. `open` may be called again. */
  putBlob(place: Place, descriptor: Descriptor, open: () => AsyncIterable<Uint8Array>, from?: PutFrom): Promise<Put>;
  /** All that a manifest names must be there before. */
  putManifest(place: Place, reference: string, manifest: Manifest, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface PutFrom {
  /** A repository of the same registry that has it. */
  mount?: string;
  signal?: AbortSignal | undefined;
}

export type Put = 'there' | 'mounted' | 'sent';

/** A registry client over HTTP: what OCI's distribution specification asks for, and no more. */
export function openRegistry(options: WireOptions): Registry {
  const wire = new Wire(options);

  async function refuse(answer: Answer, place: Place, what: string): Promise<never> {
    return await complain(answer, place.host, `${what} of ${describePlace(place)}`, await wire.hasLogin(place.host));
  }

  async function manifest(place: Place, reference: string, signal?: AbortSignal): Promise<Manifest | undefined> {
    const what = `manifest ${reference}`;
    const answer = await wire.ask(place, read(`manifests/${reference}`, signal, { accept: ACCEPT }));
    if (answer.status === 404) {
      await discard(answer.body);
      return undefined;
    }
    if (answer.status !== 200) return await refuse(answer, place, what);
    const bytes = await readWhole(answer.body, MANIFEST_BYTES);
    if (bytes === undefined) throw damaged(place, what, `it has more than ${MANIFEST_BYTES} bytes`);
    const digest = digestOf(bytes);
    const promised = DIGEST.test(reference) ? reference : (answer.headers['docker-content-digest'] ?? digest);
    if (digest !== promised) throw damaged(place, what, `its digest is ${digest}, not ${promised}`);
    return { digest, mediaType: mediaTypeOf(bytes, answer.headers['content-type'] ?? ''), bytes };
  }

  async function look(place: Place, reference: string, signal?: AbortSignal) {
    const ask = read(`manifests/${reference}`, signal, { accept: ACCEPT });
    const answer = await wire.ask(place, { ...ask, method: 'HEAD' });
    await discard(answer.body);
    if (answer.status === 404) return undefined;
    const { 'docker-content-digest': digest = '', 'content-type': type = '' } = answer.headers;
    if (answer.status === 200 && DIGEST.test(digest)) return { digest, mediaType: (type.split(';')[0] ?? '').trim() };
    // Without a digest in its answer, and to hear in words why not.
    return await manifest(place, reference, signal);
  }

  async function hasBlob(place: Place, digest: string, signal?: AbortSignal): Promise<boolean> {
    const answer = await wire.ask(place, { ...read(`blobs/${digest}`, signal), method: 'HEAD', push: true });
    if (answer.status === 200 || answer.status === 404) {
      await discard(answer.body);
      return answer.status === 200;
    }
    return await refuse(answer, place, `part ${digest}`);
  }

  async function* blob(place: Place, descriptor: Descriptor, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    const what = `part ${descriptor.digest}`;
    const answer = await wire.ask(place, { ...read(`blobs/${descriptor.digest}`, signal), unhurried: true });
    if (answer.status !== 200) await refuse(answer, place, what);
    yield* proven(answer.body, descriptor, (why) => damaged(place, what, why));
  }

  return {
    look,
    manifest,
    hasBlob,
    blob,
    async putBlob(place, descriptor, open, from = {}) {
      if (await hasBlob(place, descriptor.digest, from.signal)) return 'there';
      return await uploadBlob({ wire, refuse }, place, descriptor, open, from);
    },
    async putManifest(place, reference, { bytes, mediaType, digest }, signal) {
      const answer = await wire.ask(place, {
        method: 'PUT',
        path: `manifests/${reference}`,
        headers: { 'content-type': mediaType },
        body: () => bytes,
        push: true,
        signal,
      });
      if (answer.status !== 201 && answer.status !== 200) await refuse(answer, place, `manifest ${reference}`);
      await discard(answer.body);
      const stored = answer.headers['docker-content-digest'] ?? digest;
      if (stored !== digest) throw damaged(place, `manifest ${reference}`, `it was stored as ${stored}, not ${digest}`);
    },
    close: () => wire.close(),
  };
}

/** The same parts, the last of which comes only when size and sum are right. */
export async function* proven(
  parts: AsyncIterable<Uint8Array>,
  { digest, size }: Descriptor,
  wrong: (why: string) => Error,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let bytes = 0;
  let held: Uint8Array | undefined;
  for await (const part of parts) {
    if (held !== undefined) yield held;
    bytes += part.length;
    if (bytes > size) throw wrong(`it has more than the ${size} bytes that its manifest says`);
    hash.update(part);
    held = part;
  }
  if (bytes !== size) throw wrong(`it has ${bytes} bytes, and its manifest says ${size}`);
  const actual = `sha256:${hash.digest('hex')}`;
  if (actual !== digest) throw wrong(`its digest is ${actual}`);
  if (held !== undefined) yield held;
}

function read(path: string, signal: AbortSignal | undefined, headers: Record<string, string> = {}): Ask {
  return { method: 'GET', path, headers, signal };
}

function damaged(place: Place, what: string, why: string): EspalierError {
  return new EspalierError(
    'ImageDamaged',
    `${place.host} gave another ${what} of ${describePlace(place)}: ${why}; nothing of it is used.`,
  );
}
