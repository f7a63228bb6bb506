import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { EspalierError } from '../api/index.ts';
import { type StreamedFile, tarOf } from '../charts/tar-write.ts';
import { cantWrite } from './cant-write.ts';
import { EXPANSION_FILE } from './format.ts';
import { hashed } from './hashed.ts';
import { contentOf } from './members.ts';
import { storedGzip } from './stored-gzip.ts';
import { SUMS_FILE, writeSums } from './sums.ts';
import type { Contents } from './verify.ts';

/**
 * Packs a folder that was checked. The same files give the same bytes, on any machine. Whole or not there at all: written
 * beside and then renamed. What a run that was killed left there is written over.
 */
export async function buildPackage(
  folder: string,
  { files }: Contents,
  output: string,
  signal?: AbortSignal,
): Promise<{ sha256: string; size: number }> {
  const part = `${output}.part`;
  const hash = createHash('sha256');
  let size = 0;
  try {
    await pipeline(
      async function* () {
        for await (const chunk of storedGzip(tarOf(packed(folder, files)))) {
          hash.update(chunk);
          size += chunk.length;
          yield chunk;
        }
      },
      createWriteStream(part),
      { ...(signal === undefined ? {} : { signal }) },
    );
    await rename(part, output);
  } catch (error) {
    signal?.throwIfAborted();
    cantWrite(output, error);
  } finally {
    await rm(part, { force: true });
  }
  return { sha256: hash.digest('hex'), size };
}

/** What describes the package first, so that it is read before what is large. */
async function* packed(folder: string, files: Contents['files']): AsyncGenerator<StreamedFile> {
  const sums = Buffer.from(writeSums(files));
  const names = [...files.keys()].filter((path) => path !== EXPANSION_FILE && path !== SUMS_FILE).sort();
  yield fileOf(EXPANSION_FILE);
  yield { path: SUMS_FILE, size: sums.length, mode: 0o644, content: once(sums) };
  for (const path of names) yield fileOf(path);

  function fileOf(path: string): StreamedFile {
    const { size = 0, sha256 = '' } = files.get(path) ?? {};
    const mode = path.startsWith('hooks/') ? 0o755 : 0o644;
    return { path, size, mode, content: unchanged(join(folder, path), path, sha256) };
  }
}

async function* unchanged(file: string, path: string, sha256: string): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  const changed = (cause?: unknown) =>
    new EspalierError('ExpansionInvalid', `${path} changed while the package was built; build it again`, { cause });
  try {
    yield* hashed(contentOf(file), hash);
  } catch (error) {
    throw changed(error);
  }
  if (hash.digest('hex') !== sha256) throw changed();
}

async function* once(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}
