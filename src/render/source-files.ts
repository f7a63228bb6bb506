import { EspalierError } from '../api/index.ts';
import type { FileTree, TreeEntry } from '../git/tree.ts';
import type { RenderLimits } from './limits.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

export interface SourceFile {
  /** From the root of the repository. */
  path: string;
  /** From the folder that is rendered. */
  name: string;
}

/**
 * The files below a folder, or the file itself, sorted by name. Names that begin with a dot are nobody's manifests and
 * are left out, with all that is below. Links are refused where they could be manifests; with `allAreRead` each that a
 * template could read.
 */
export async function filesBelow(
  tree: FileTree,
  path: string,
  limits: RenderLimits,
  { allAreRead = false } = {},
): Promise<SourceFile[]> {
  const root = path.split('/').filter((name) => name !== '' && name !== '.');
  if ((await tree.id(path)) === undefined) throw missing(path, tree);
  const files: SourceFile[] = [];
  for await (const entry of tree.walk(path)) {
    const names = entry.path.split('/').slice(root.length);
    if (names.some((name) => name.startsWith('.')) || entry.type === 'folder') continue;
    refuseLinks(entry, allAreRead);
    if (entry.type === 'file') files.push({ path: entry.path, name: names.join('/') });
    if (files.length > limits.files) throw tooMuch(path, `more than ${limits.files} files`);
  }
  if (files.length === 0 && (await tree.read(path)) !== undefined) {
    return [{ path: root.join('/'), name: root.at(-1) ?? '' }];
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Reads files of one rendering, and no more bytes than allowed. */
export class Reader {
  readonly #tree: FileTree;
  readonly #limits: RenderLimits;
  readonly #signal: AbortSignal | undefined;
  #bytes = 0;

  constructor(tree: FileTree, limits: RenderLimits, signal: AbortSignal | undefined) {
    this.#tree = tree;
    this.#limits = limits;
    this.#signal = signal;
  }

  async bytes(path: string): Promise<Uint8Array> {
    this.#signal?.throwIfAborted();
    const bytes = await this.#tree.read(path);
    if (bytes === undefined) throw missing(path, this.#tree);
    this.#bytes += bytes.length;
    if (this.#bytes > this.#limits.inputBytes)
      throw tooMuch(path, `files of more than ${this.#limits.inputBytes} bytes`);
    return bytes;
  }

  async text(path: string): Promise<string> {
    const bytes = await this.bytes(path);
    try {
      return UTF8.decode(bytes);
    } catch {
      throw new EspalierError('RenderFailed', `${path} is not UTF-8 text`, { data: { file: path }, retry: false });
    }
  }
}

/**
 * What could stand for manifests must not be left out silently: what is not rendered any more is deleted. Other links
 * (a README) do no harm unread.
 */
function refuseLinks(entry: TreeEntry, allAreRead: boolean): void {
  const matters = allAreRead ? /(?<!\.md)$/i : /(^|\/)[^.]+$|\.ya?ml$/i;
  const mayMatter = entry.type === 'submodule' || (entry.type === 'link' && matters.test(entry.path));
  if (!mayMatter) return;
  const what = entry.type === 'submodule' ? 'a submodule, which is not fetched' : 'a link, which is not followed';
  throw new EspalierError('RenderRefused', `${entry.path} is ${what}; put the files themselves there`, {
    data: { file: entry.path },
    retry: false,
  });
}

export function missing(path: string, tree: FileTree): EspalierError {
  return new EspalierError('SourceMissing', `There is nothing at ${JSON.stringify(path)} at commit ${tree.commit}`, {
    data: { path },
  });
}

function tooMuch(path: string, why: string): EspalierError {
  return new EspalierError('RenderRefused', `${path}: ${why} are too many for one plugin; point at a smaller folder`, {
    data: { path },
    retry: false,
  });
}
