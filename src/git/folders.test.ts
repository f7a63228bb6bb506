import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isError } from '../api/index.ts';
import { Folders } from './folders.ts';
import { objectTree } from './gittree.ts';
import { type GitObject, hashObject } from './objects.ts';
import { type NamedEntry, treeBytes } from './treebytes.ts';

const FILE = { mode: '100644', oid: hashObject('blob', Buffer.from('')) };

/** Objects in memory that count how often each was asked for. */
class Objects {
  readonly asked: string[] = [];
  readonly #objects = new Map<string, GitObject>();

  tree(entries: readonly NamedEntry[]): string {
    return this.add('tree', treeBytes(entries, 'utf8'));
  }

  add(type: 'tree' | 'blob', data: Buffer): string {
    const oid = hashObject(type, data);
    this.#objects.set(oid, { type, data });
    return oid;
  }

  readonly need = async (oid: string): Promise<GitObject> => {
    this.asked.push(oid);
    const object = this.#objects.get(oid);
    if (object === undefined) throw new Error(`no ${oid}`);
    return object;
  };
}

describe('folders of Git', () => {
  test('a folder that several commits have is read and parsed once', async () => {
    const objects = new Objects();
    const shared = objects.tree([{ name: 'a.yaml', ...FILE }]);
    const folders = new Folders();
    for (const name of ['one', 'other']) {
      const root = objects.tree([{ name, mode: '40000', oid: shared }]);
      const tree = objectTree(name, { root: async () => root, need: objects.need }, folders);
      assert.equal(await tree.id(`${name}/a.yaml`), FILE.oid);
      assert.deepEqual(
        (await tree.list(name)).map(({ path }) => path),
        [`${name}/a.yaml`],
      );
    }
    assert.equal(objects.asked.filter((oid) => oid === shared).length, 1);
    folders.clear();
    await folders.at(shared, objects.need);
    assert.equal(objects.asked.filter((oid) => oid === shared).length, 2);
  });

  test('a folder too large to keep is read each time', async () => {
    const objects = new Objects();
    const huge = objects.tree(Array.from({ length: 5_000 }, (_, index) => ({ name: `file-${index}`, ...FILE })));
    const folders = new Folders();
    for (let times = 0; times < 2; times++)
      assert.equal((await folders.at(huge, objects.need)).get('file-4999')?.oid, FILE.oid);
    assert.equal(objects.asked.length, 2);
  });

  for (const [size, others] of [
    ['small', 0],
    ['large', 100],
  ] as const) {
    const more = Array.from({ length: others }, (_, index) => `file-${index}`);

    test(`names in a ${size} folder are found wherever they sort, and others are not`, async () => {
      const objects = new Objects();
      // Git sorts a folder as if its name ended with a slash, and by bytes: neither is the order of strings.
      const names = ['a', 'a.b', 'a0', '\u{1f333}', '\uffe6', '__proto__', 'constructor', ...more];
      const folder = objects.tree(
        names.map((name, index) => ({ name, ...FILE, mode: index === 0 ? '40000' : '100644' })),
      );
      const { entries, get } = await new Folders().at(folder, objects.need);
      assert.deepEqual(entries.map(({ name }) => name).slice(-2), ['\uffe6', '\u{1f333}']);
      for (const name of names) assert.equal(get(name)?.name, name);
      for (const name of ['', 'b', 'toString', 'a/']) assert.equal(get(name), undefined);
    });

    test(`of two entries with one name in a ${size} folder the first counts`, async () => {
      const objects = new Objects();
      const first = objects.add('blob', Buffer.from('first'));
      const entry = (name: string, oid: string) =>
        Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(oid, 'hex')]);
      const twice = [entry('twice', first), entry('twice', FILE.oid)];
      const data = Buffer.concat([...more.map((name) => entry(name, FILE.oid)), ...twice]);
      const { entries, get } = await new Folders().at(objects.add('tree', data), objects.need);
      assert.equal(entries.length, others + 2);
      assert.equal(get('twice')?.oid, first);
    });
  }

  test('a file where a folder belongs is damage, and stays it', async () => {
    const objects = new Objects();
    const blob = objects.add('blob', Buffer.from('text'));
    const folders = new Folders();
    for (let times = 0; times < 2; times++)
      await assert.rejects(folders.at(blob, objects.need), (error) => isError(error, 'GitStoreDamaged'));
  });
});
