import { createGunzip } from 'node:zlib';
import { isError } from '../api/index.ts';
import { tarMembers } from '../charts/tar-read.ts';
import { faultOf, type PackageFault } from './fault.ts';
import { imagesIn } from './images-index.ts';
import { whyUnsafe } from './names.ts';
import { IMAGES_FILE } from './verify.ts';

export interface ImagesFound {
  /** Undefined where the archive can't be read. */
  images: string[] | undefined;
  faults: PackageFault[];
}

const LARGEST_INDEX = 8 * 1024 * 1024;
const MOST_MEMBERS = 100_000;
const CHUNK = 16 * 1024;
const AGAIN = 'save it again with `docker save … | gzip`, or as an OCI layout';

/** Reads an image archive as it streams by; nothing but its two indexes is kept. Never throws for an archive, but for `content`. */
export async function readImages(content: AsyncIterable<Uint8Array>): Promise<ImagesFound> {
  const gunzip = createGunzip({ chunkSize: CHUNK });
  const reading = readMembers(gunzip).catch((error: unknown): ImagesFound => {
    gunzip.destroy();
    const why = isError(error) ? error.message : 'it is no gzip, or cut off';
    return { images: undefined, faults: [faultOf(IMAGES_FILE, `can't be read: ${why} Image archives: ${AGAIN}`)] };
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

async function readMembers(stream: AsyncIterable<Uint8Array>): Promise<ImagesFound> {
  const paths = new Set<string>();
  const faults: PackageFault[] = [];
  const indexes: { docker?: string; oci?: string } = {};
  for await (const { path: written, type, kind, size, content } of tarMembers(stream)) {
    const path = written.replace(/^(\.\/)+/, '').replace(/\/+$/, '');
    if (path === '' || path === '.') continue;
    const unsafe = whyUnsafe(path);
    if (unsafe !== undefined) faults.push(faultOf(IMAGES_FILE, `holds ${quoted(path)}, which ${unsafe}; ${AGAIN}`));
    // Older versions of docker save a layer that two images share as a link; nothing follows it here.
    if (type === 'other') faults.push(faultOf(IMAGES_FILE, `holds ${quoted(path)}, which is ${kind}; ${AGAIN}`));
    if (paths.size >= MOST_MEMBERS)
      return {
        images: undefined,
        faults: [...faults, faultOf(IMAGES_FILE, `holds more than ${MOST_MEMBERS} files; ${AGAIN}`)],
      };
    if (faults.length > 100) return { images: undefined, faults };
    if (type !== 'folder') paths.add(path);
    if (type !== 'file' || (path !== 'manifest.json' && path !== 'index.json')) continue;
    if (size > LARGEST_INDEX) {
      faults.push(faultOf(IMAGES_FILE, `holds a ${path} of ${size} bytes, ${LARGEST_INDEX} at most; ${AGAIN}`));
      continue;
    }
    const parts: Uint8Array[] = [];
    for await (const part of content()) parts.push(part);
    indexes[path === 'manifest.json' ? 'docker' : 'oci'] = Buffer.concat(parts).toString('utf8');
  }
  const found = imagesIn(indexes, paths);
  const said = found.faults.map((message) => faultOf(IMAGES_FILE, `${message}; ${AGAIN}`));
  return { images: found.images, faults: [...faults, ...said] };
}

function quoted(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}
