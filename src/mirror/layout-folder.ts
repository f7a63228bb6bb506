import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { blobPath, type Entry, entriesOf, indexOf, type LayoutFiles } from './layout.ts';
import type { Sink } from './transfer.ts';

export function folderFiles(folder: string): LayoutFiles {
  const at = (path: string) => join(folder, path);
  return {
    title: folder,
    read: (path) => readFile(at(path)).catch(absent),
    stream: (path) => (existsSync(at(path)) ? createReadStream(at(path)) : undefined),
    close: async () => {},
  };
}

/** A layout that grows. Every file is complete or absent, so that one that was cut off goes on where it was. */
export class LayoutFolder implements Sink {
  readonly folder: string;
  readonly #entries = new Map<string, Entry>();
  #saving = Promise.resolve();

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(folder: string): Promise<LayoutFolder> {
    const layout = new LayoutFolder(folder);
    await mkdir(join(folder, 'blobs', 'sha256'), { recursive: true });
    const index = await readFile(join(folder, 'index.json')).catch(absent);
    for (const entry of index === undefined ? [] : entriesOf(index, folder)) layout.#entries.set(keyOf(entry), entry);
    // What was cut off in the middle of a file.
    for (const name of await readdir(folder))
      if (name.startsWith('.part-')) await rm(join(folder, name), { force: true });
    await layout.#write('oci-layout', '{"imageLayoutVersion":"1.0.0"}\n');
    return layout;
  }

  has({ kind, name }: Pick<Entry, 'kind' | 'name'>, digest: string): boolean {
    return this.#entries.get(keyOf({ kind, name }))?.root.digest === digest;
  }

  async hasManifest(digest: string): Promise<boolean> {
    return (await this.#sizeOf(digest)) !== undefined;
  }

  async putBlob(
    { digest, size }: { digest: string; size: number },
    open: () => AsyncIterable<Uint8Array>,
  ): Promise<void> {
    if ((await this.#sizeOf(digest)) === size) return;
    const part = this.#temporary();
    try {
      await pipeline(open(), createWriteStream(part, { flags: 'wx' }));
      await rename(part, join(this.folder, blobPath(digest)));
    } finally {
      await rm(part, { force: true });
    }
  }

  async putManifest({ digest, bytes }: { digest: string; bytes: Uint8Array }): Promise<void> {
    await this.#write(blobPath(digest), bytes);
  }

  /** Names what is whole. One at a time: each time the index is written anew. */
  async name(entry: Entry): Promise<void> {
    this.#entries.set(keyOf(entry), entry);
    this.#saving = this.#saving.then(() => this.#write('index.json', indexOf([...this.#entries.values()])));
    await this.#saving;
  }

  async #write(path: string, content: string | Uint8Array): Promise<void> {
    const part = this.#temporary();
    await writeFile(part, content, { flag: 'wx' });
    await rename(part, join(this.folder, path));
  }

  #temporary(): string {
    return join(this.folder, `.part-${randomUUID()}`);
  }

  async #sizeOf(digest: string): Promise<number | undefined> {
    return (await stat(join(this.folder, blobPath(digest))).catch(absent))?.size;
  }
}

function keyOf({ kind, name }: Pick<Entry, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}

/** That a file is not there is an answer; anything else is not. */
function absent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
