import { createHash } from 'node:crypto';
import { EspalierError } from '../api/index.ts';
import { type Descriptor, DIGEST, isIndex, type Manifest, MEDIA } from './types.ts';

/** What a manifest is made of. Children of an index are manifests, the rest is blobs. */
export interface Contents {
  manifests: Descriptor[];
  blobs: Descriptor[];
}

/** Layers that their owner wants to be fetched from elsewhere: registries don't have them. */
const FOREIGN = /nondistributable|foreign/;

export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** Reads what a manifest names; `what` is for messages. Refuses what is no manifest of an image or an artifact. */
export function contentsOf({ bytes, mediaType }: Manifest, what: string): Contents {
  const document = parse(bytes);
  if (document === undefined) throw broken(what, 'is no JSON');
  if (isIndex(mediaType)) return { manifests: descriptors(document.manifests, what), blobs: [] };
  if (document.config === undefined || !Array.isArray(document.layers))
    throw broken(what, `of type ${plain(mediaType)} is none of an image: images of before 2017 have to be built anew`);
  const blobs = descriptors([document.config, ...document.layers], what);
  return { manifests: [], blobs: blobs.filter((one) => !FOREIGN.test(one.mediaType)) };
}

/** The type that a manifest gives itself, or the one that it was sent with, or what it looks like. */
export function mediaTypeOf(bytes: Uint8Array, sentAs = ''): string {
  const { mediaType, manifests } = parse(bytes) ?? {};
  if (typeof mediaType === 'string' && mediaType !== '') return mediaType;
  const [sent = ''] = sentAs.split(';');
  if (sent.trim() !== '') return sent.trim();
  return Array.isArray(manifests) ? MEDIA.index : MEDIA.manifest;
}

/** The manifest for one platform (`linux/amd64`, `linux/arm64/v8`) of an index. */
export function childFor(index: Manifest, platform: string, what: string): Descriptor | undefined {
  const [os, architecture, variant] = platform.split('/');
  return contentsOf(index, what).manifests.find(
    (one) =>
      one.platform?.os === os &&
      one.platform?.architecture === architecture &&
      (variant === undefined || one.platform?.variant === variant),
  );
}

function descriptors(list: unknown, what: string): Descriptor[] {
  if (!Array.isArray(list)) throw broken(what, 'names nothing');
  return list.map((item: unknown) => {
    const { mediaType, digest, size, platform, annotations } = (item ?? {}) as Partial<Descriptor>;
    if (typeof mediaType !== 'string' || typeof digest !== 'string' || !DIGEST.test(digest))
      throw broken(what, 'names a part without a sha256 digest');
    if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
      throw broken(what, `names ${digest} without its size`);
    return {
      ...{ mediaType, digest, size },
      ...(platform === undefined ? {} : { platform }),
      ...(annotations === undefined ? {} : { annotations }),
    };
  });
}

function parse(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function plain(type: string): string {
  return type.replace(/[^\w/+.-]/g, '').slice(0, 80) || 'no name';
}

function broken(what: string, why: string): EspalierError {
  return new EspalierError('ImageInvalid', `The manifest of ${what} ${why}.`, { retry: false });
}
