import { Readable } from 'node:stream';
import { EspalierError } from '../api/index.ts';
import { type MemoryFile, memoryTree } from '../git/memorytree.ts';
import { type FileTree, splitPath } from '../git/tree.ts';
import { checkPath, quoted } from './archive-path.ts';
import { Budget, inflated } from './budget.ts';
import { broken, refused } from './errors.ts';
import type { ChartLimits } from './limits.ts';
import { type ArchiveEntry, readTar } from './tar-read.ts';
import { readZip } from './zip-read.ts';

export type Packing = 'tgz' | 'zip' | 'text';

/** What bytes are, by their beginning: addresses often end in something else. */
export function packingOf(bytes: Buffer): Packing {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'tgz';
  if (bytes.toString('latin1', 0, 2) === 'PK') return 'zip';
  const start = bytes.subarray(0, 8192);
  if (start.includes(0))
    throw refused('What was downloaded is neither a .tgz, nor a .zip, nor a text of YAML or JSON.');
  if (/^\ufeff?\s*</.test(start.toString('utf8'))) {
    throw refused(
      'What was downloaded is a web page and no file; check the URL, and whether the server wants a login.',
    );
  }
  return 'text';
}

/** What was downloaded, as files. `name` is that of a single one. */
export async function readFiles(
  bytes: Buffer,
  { name, commit, limits }: { name: string; commit: string; limits: ChartLimits },
): Promise<FileTree> {
  const packing = packingOf(bytes);
  if (packing === 'text') return memoryTree(new Map([[yamlName(name), { type: 'file', data: bytes }]]), commit);
  const budget = new Budget(bytes.length, { ...limits, unpackedBytes: limits.folderBytes });
  const entries =
    packing === 'zip'
      ? readZip(bytes, budget)
      : counted(
          readTar(inflated(Readable.from([bytes]), budget), { maxFileBytes: limits.folderBytes, listLinks: true }),
        );
  return memoryTree(await collect(entries, limits), commit);

  async function* counted(found: AsyncIterable<ArchiveEntry>): AsyncGenerator<ArchiveEntry> {
    for await (const entry of found) {
      budget.countFile();
      yield entry;
    }
  }
}

/**
 * Where in what was downloaded the source is: at `path`, else at its top, or in the one folder that is there, as
 * archives of releases have it.
 */
export async function placeIn(tree: FileTree, path: string | undefined): Promise<string> {
  const top = await tree.list('');
  if (path === undefined) return top.length === 1 && top[0]?.type === 'folder' ? top[0].path : '.';
  const clean = splitPath(path).join('/');
  if ((await tree.id(clean)) !== undefined) return clean;
  const names = top.map(({ name, type }) => (type === 'folder' ? `${name}/` : name)).join(', ');
  throw new EspalierError(
    'SourceMissing',
    `source.download.path ${quoted(path)} is not in what was downloaded, which holds ${names.slice(0, 300) || 'nothing'}`,
  );
}

async function collect(entries: AsyncIterable<ArchiveEntry>, limits: ChartLimits): Promise<Map<string, MemoryFile>> {
  const files = new Map<string, MemoryFile>();
  const folders = new Set<string>();
  for await (const { path: written, type, data } of entries) {
    const path = written.replace(/^(\.\/+)+/, '');
    // `tar -C folder .` begins so, and macOS puts its own things beside what was packed.
    if (path === '' || path === '.' || path.startsWith('__MACOSX/')) continue;
    const clean = checkPath(path);
    for (let cut = clean.lastIndexOf('/'); cut > 0; cut = clean.lastIndexOf('/', cut - 1)) {
      const folder = clean.slice(0, cut);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
    if (type === 'folder') folders.add(clean);
    else if (files.has(clean)) throw refused(`The archive holds ${quoted(clean)} twice.`, { path: clean });
    else files.set(clean, type === 'link' ? { type } : { type: 'file', data: data ?? Buffer.alloc(0) });
    // Folders that nobody packed, but that are in the names of files, count as well: a name may hold hundreds.
    if (files.size + folders.size > limits.files)
      throw refused(`The archive holds more than ${limits.files} files and folders.`);
  }
  for (const path of files.keys()) {
    if (folders.has(path)) throw broken(`${quoted(path)} is a file and a folder in it`);
  }
  return files;
}

/** What is rendered goes by the endings of names; JSON is YAML too. */
function yamlName(name: string): string {
  const safe = name
    .replace(/[^\w.-]/g, '_')
    .replace(/^[._]+/, '')
    .slice(-100);
  return /\.ya?ml$/i.test(safe) ? safe : `${safe === '' ? 'download' : safe}.yaml`;
}
