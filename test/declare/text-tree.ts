import { hashObject } from '../../src/git/objects.ts';
import { type FileTree, joinPath, splitPath, type TreeEntry, walkTree } from '../../src/git/tree.ts';

/** A commit written down in a test, with the ids that Git would give: paths and texts. A text that begins with `-> ` is a link. Counts what is read. */
export interface TextTree extends FileTree {
  reads: string[];
}

export function textTree(files: Record<string, string | Uint8Array>): TextTree {
  const reads: string[] = [];
  const contents = new Map(Object.entries(files));
  const entriesOf = (folder: string): TreeEntry[] => {
    const names = new Set<string>();
    const prefix = folder === '' ? '' : `${folder}/`;
    for (const path of contents.keys())
      if (path.startsWith(prefix)) names.add(path.slice(prefix.length).split('/')[0] ?? '');
    return [...names].sort().map((name) => entryAt(joinPath(folder, name), name));
  };
  const entryAt = (path: string, name: string): TreeEntry => {
    const content = contents.get(path);
    if (content === undefined) return { name, path, type: 'folder', mode: '040000', oid: folderId(path) };
    const isLink = typeof content === 'string' && content.startsWith('-> ');
    return { name, path, type: isLink ? 'link' : 'file', mode: isLink ? '120000' : '100644', oid: blobId(content) };
  };
  const folderId = (folder: string): string => {
    const inGitOrder = (entry: TreeEntry): string => (entry.type === 'folder' ? `${entry.name}/` : entry.name);
    const entries = entriesOf(folder).sort((a, b) => (inGitOrder(a) < inGitOrder(b) ? -1 : 1));
    const lines = entries.map(({ mode, name, oid }) => [
      Buffer.from(`${mode.replace(/^0/, '')} ${name}\0`),
      Buffer.from(oid, 'hex'),
    ]);
    return hashObject('tree', Buffer.concat(lines.flat()));
  };
  const tree: TextTree = {
    commit: 'c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00',
    reads,
    async read(path) {
      const clean = splitPath(path).join('/');
      const content = contents.get(clean);
      if (content === undefined) return undefined;
      reads.push(clean);
      return typeof content === 'string' ? new TextEncoder().encode(content) : content;
    },
    async list(path) {
      return entriesOf(splitPath(path).join('/'));
    },
    walk: (path) => walkTree(tree, path),
    async id(path) {
      const clean = splitPath(path).join('/');
      if (contents.has(clean)) return entryAt(clean, clean).oid;
      return clean === '' || entriesOf(clean).length > 0 ? folderId(clean) : undefined;
    },
  };
  return tree;
}

function blobId(content: string | Uint8Array): string {
  return hashObject('blob', Buffer.from(content));
}
