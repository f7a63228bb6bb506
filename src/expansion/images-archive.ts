import { createHash } from 'node:crypto';
import { createGunzip } from 'node:zlib';
import { isError } from '../api/index.ts';
import { memberPath, type TarMember, tarMembers } from '../charts/tar-read.ts';
import { digestOf } from '../registry/contents.ts';
import { type ArchivedFile, type ArchiveFiles, isDocument, linkTarget, packingOf } from './archive-files.ts';
import { faultOf, type PackageFault } from './fault.ts';
import { hashed } from './hashed.ts';
import { imagesIn, type NamedImage } from './images-index.ts';
import { whyUnsafe } from './names.ts';
import { storedGzip } from './stored-gzip.ts';
import { IMAGES_FILE } from './verify.ts';

export interface ImagesFound {
  /** Undefined where the archive can't be read. */
  images: NamedImage[] | undefined;
  faults: PackageFault[];
}

const LARGEST_INDEX = 8 * 1024 * 1024;
const LARGEST_DOCUMENT = 4 * 1024 * 1024;
const MOST_DOCUMENTS = 32 * 1024 * 1024;
const BLOB = /^blobs\/sha256\/([0-9a-f]{64})$/;
const BRACE = 0x7b;
const MAGIC_BYTES = 4;
const HARD_LINK = 'a hard link';
const MOST_MEMBERS = 100_000;
const CHUNK = 16 * 1024;
const AGAIN = 'save it again with `docker save … | gzip`, or as an OCI layout';

/**
 * Reads an image archive as it streams by; nothing but what tells the rest is kept. Never throws for an archive, but for
 * `content`. `digests`: every layer is summed, as pushing a docker-archive needs it.
 */
export async function readImages(content: AsyncIterable<Uint8Array>, digests: boolean): Promise<ImagesFound> {
  const gunzip = createGunzip({ chunkSize: CHUNK });
  const reading = readMembers(gunzip, digests).catch((error: unknown): ImagesFound => {
    gunzip.destroy();
    const why = isError(error)
      ? 'it is no tar, or not a whole one'
      : 'it is no gzip, cut off, or followed by something else';
    return { images: undefined, faults: [faultOf(IMAGES_FILE, `can't be read: ${why}; ${AGAIN}`)] };
  });
  try {
    for await (const chunk of content) {
      if (gunzip.destroyed || gunzip.write(chunk)) continue;
      await new Promise<void>((resolve) => {
        const go = (): void => {
          gunzip.off('drain', go).off('close', go);
          resolve();
        };
        gunzip.on('drain', go).on('close', go);
      });
    }
    gunzip.end();
    return await reading;
  } finally {
    gunzip.destroy();
    await reading;
  }
}

async function readMembers(stream: AsyncIterable<Uint8Array>, digests: boolean): Promise<ImagesFound> {
  const archive: ArchiveFiles = { files: new Map(), links: new Map(), documents: new Map() };
  const faults: PackageFault[] = [];
  const fault = (message: string): number => faults.push(faultOf(IMAGES_FILE, `${message}; ${AGAIN}`));
  const indexes: { docker?: string; oci?: string } = {};
  let [members, kept] = [0, 0];
  for await (const member of tarMembers(stream)) {
    const { type, kind, size } = member;
    const path = memberPath(member.path);
    if (path === '') continue;
    const unsafe = whyUnsafe(path);
    if (unsafe !== undefined) fault(`holds ${quoted(path)}, which ${unsafe}`);
    if (type === 'other') fault(`holds ${quoted(path)}, which is ${kind}`);
    members += 1;
    if (members > MOST_MEMBERS) fault(`holds more than ${MOST_MEMBERS} files`);
    if (members > MOST_MEMBERS || faults.length > 100) return { images: undefined, faults };
    if (type === 'link') archive.links.set(path, linkTarget(path, member.target ?? '', kind === HARD_LINK));
    if (type !== 'file' || unsafe !== undefined) continue;
    if (path === 'manifest.json' || path === 'index.json') {
      const index = path === 'manifest.json' ? 'docker' : 'oci';
      if (size > LARGEST_INDEX) fault(`holds a ${path} of ${size} bytes, ${LARGEST_INDEX} at most`);
      else if (indexes[index] !== undefined) fault(`holds ${path} twice`);
      else indexes[index] = Buffer.concat(await Array.fromAsync(member.content())).toString('utf8');
      continue;
    }
    const { file, document } = await lookInto(member, BLOB.exec(path)?.[1], digests);
    archive.files.set(path, file);
    if (document === undefined) continue;
    archive.documents.set(path, document);
    kept += document.length;
    if (kept <= MOST_DOCUMENTS) continue;
    fault(`holds more than ${MOST_DOCUMENTS} bytes of manifests and configs`);
    return { images: undefined, faults };
  }
  const found = imagesIn(indexes, archive);
  for (const message of found.faults) fault(message);
  return { images: found.images, faults };
}

/** Reads a file as far as it has to. `named`: its path tells its digest. */
async function lookInto(
  { size, content }: TarMember,
  named: string | undefined,
  digests: boolean,
): Promise<{ file: ArchivedFile; document?: Uint8Array }> {
  const { head, parts } = await begun(content());
  const packing = packingOf(head);
  const digest = named === undefined ? {} : { digest: `sha256:${named}` };
  if (size <= LARGEST_DOCUMENT && head[0] === BRACE) {
    const document = Buffer.concat(await Array.fromAsync(parts));
    const file = { size, digest: digestOf(document), packing, ...digest };
    return isDocument(document) ? { file, document } : { file };
  }
  if (named !== undefined || !digests) return { file: { size, packing, ...digest } };
  const raw = createHash('sha256');
  const hash = createHash('sha256');
  if (packing !== 'none') {
    for await (const part of parts) raw.update(part);
    return { file: { size, packing, digest: `sha256:${raw.digest('hex')}` } };
  }
  let length = 0;
  for await (const part of storedGzip(hashed(parts, raw))) {
    hash.update(part);
    length += part.length;
  }
  const wrapped = { digest: `sha256:${hash.digest('hex')}`, size: length };
  return { file: { size, packing, digest: `sha256:${raw.digest('hex')}`, wrapped } };
}

/** The first bytes, and all of them once more. */
async function begun(
  content: AsyncGenerator<Uint8Array>,
): Promise<{ head: Uint8Array; parts: AsyncGenerator<Uint8Array> }> {
  const first: Uint8Array[] = [];
  let length = 0;
  while (length < MAGIC_BYTES) {
    const next = await content.next();
    if (next.done === true) break;
    first.push(next.value);
    length += next.value.length;
  }
  const parts = async function* (): AsyncGenerator<Uint8Array> {
    yield* first;
    yield* content;
  };
  return { head: Buffer.concat(first), parts: parts() };
}

function quoted(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}
