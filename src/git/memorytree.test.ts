import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { folderTree } from './foldertree.ts';
import { type MemoryFile, memoryTree } from './memorytree.ts';

const FILES = { 'a/b/c.yaml': 'c', 'a/b.txt': 'b', 'a.b/x': 'x', 'z.yaml': 'z' };

function treeOf(files: Record<string, string>, links: string[] = []) {
  const entries = Object.entries(files).map(([path, text]): [string, MemoryFile] => [
    path,
    { type: 'file', data: Buffer.from(text) },
  ]);
  return memoryTree(new Map([...entries, ...links.map((path): [string, MemoryFile] => [path, { type: 'link' }])]), 'x');
}

test('files in memory have the lists and ids that a folder with the same files has', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'espalier-tree-'));
  t.after(() => rm(dir, { recursive: true }));
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  const [ours, real] = [treeOf(FILES), folderTree(dir)];
  for (const path of ['', '.', 'a', 'a/b/', 'a.b', 'a/b/c.yaml', 'none', 'z.yaml/none']) {
    assert.deepEqual(await ours.list(path), await real.list(path), path);
    assert.deepEqual(await ours.id(path), await real.id(path), path);
    assert.deepEqual(await ours.read(path), await real.read(path), path);
  }
  const walked = [];
  for await (const { path } of ours.walk('a')) walked.push(path);
  assert.deepEqual(walked, ['a/b.txt', 'a/b', 'a/b/c.yaml']);
});

test('a link is listed, and neither read nor followed', async () => {
  const tree = treeOf(FILES, ['a/link']);
  assert.ok((await tree.list('a')).some(({ name, type }) => name === 'link' && type === 'link'));
  for (const path of ['a/link', 'a/link/x']) await assert.rejects(tree.read(path), { code: 'GitUnsafePath' });
  await assert.rejects(tree.list('a/link'), { code: 'GitUnsafePath' });
  await assert.rejects(tree.read('a/../z.yaml'), { code: 'GitUnsafePath' });
});
