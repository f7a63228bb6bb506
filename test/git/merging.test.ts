import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { mergeTrees } from '../../src/git/mergetrees.ts';
import { ObjectStore } from '../../src/git/objectstore.ts';
import type { FileTree } from '../../src/git/tree.ts';
import { commitBytes, feed, makeFolder, makeOrigin, type Origin, treeBytes } from './support/origin.ts';

const run = promisify(execFile);
const MiB = 1024 * 1024;

let folder: Awaited<ReturnType<typeof makeFolder>>;
let count = 0;

before(async () => {
  folder = await makeFolder();
});
after(() => folder.remove());

/** Path to mode and content. */
type Files = Record<string, { mode: string; text: string }>;
type Edit = { path: string; file: Files[string] | null } | { path: string; at: number; remove: number; add: string[] };
interface Story {
  ancestor: Files;
  base: Edit[];
  head: Edit[];
}

// Few names and few lines, so that the two sides meet.
const paths = fc.constantFrom(
  'a',
  'a',
  'a',
  'd/a',
  'd/a',
  'b',
  'd',
  'd/a',
  'd/b',
  'd/e/a',
  'd-',
  'd.x',
  'f/a',
  'f/b',
  'ü',
);
const line = fc.nat(12).map((n) => `line ${n}\n`);
const text = fc
  .tuple(fc.array(line, { minLength: 5, maxLength: 30 }), fc.constantFrom('', '', '', 'no end', '\r\n', '\0'))
  .map(([lines, end]) => `${lines.join('')}${end}`);
const file = fc.record({ mode: fc.constantFrom('100644', '100644', '100644', '100755', '120000'), text });
const edit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ path: paths, at: fc.nat(30), remove: fc.nat(3), add: fc.array(line, { maxLength: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ path: paths, file: fc.option(file) }) },
);
const story: fc.Arbitrary<Story> = fc.record({
  ancestor: fc.dictionary(paths, file, { minKeys: 2, maxKeys: 8 }),
  base: fc.array(edit, { minLength: 2, maxLength: 6 }),
  head: fc.array(edit, { minLength: 2, maxLength: 6 }),
});

function edited(files: Files, edits: Edit[]): Files {
  const after = { ...files };
  for (const each of edits) {
    const known = after[each.path];
    if ('file' in each) {
      if (each.file === null) delete after[each.path];
      else put(after, each.path, each.file);
    } else if (known !== undefined && known.mode !== '120000') {
      const lines = known.text.split(/(?<=\n)/);
      lines.splice(Math.min(each.at, lines.length), each.remove, ...each.add);
      after[each.path] = { ...known, text: lines.join('') };
    }
  }
  return after;
}

/** A file takes the place of a folder, and a folder that of a file. */
function put(files: Files, path: string, entry: Files[string]): void {
  for (const other of Object.keys(files))
    if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) delete files[other];
  files[path] = entry;
}

function lay(files: Files): Files {
  const tidy: Files = {};
  for (const [path, entry] of Object.entries(files)) put(tidy, path, entry);
  return tidy;
}

interface Written {
  ancestor: string;
  base: string;
  head: string;
}

/** Writes all stories into one repository: three commits each. */
async function writeStories(origin: Origin, stories: Story[]): Promise<Written[]> {
  const parts: Buffer[] = [];
  const say = (words: string): void => void parts.push(Buffer.from(words));
  const commit = (ref: string, files: Files, from: string | undefined): void => {
    say(`commit refs/heads/${ref}\ncommitter A <a@example.com> 1700000000 +0000\ndata 1\nc\n`);
    if (from !== undefined) say(`from refs/heads/${from}\ndeleteall\n`);
    for (const [path, { mode, text }] of Object.entries(files)) {
      say(`M ${mode} inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`);
    }
  };
  say('feature done\n');
  for (const [i, { ancestor, base, head }] of stories.entries()) {
    const start = lay(ancestor);
    commit(`o${i}`, start, undefined);
    commit(`b${i}`, edited(start, base), `o${i}`);
    commit(`h${i}`, edited(start, head), `o${i}`);
  }
  say('done\n');
  const args = ['-C', origin.dir, '-c', 'fastimport.unpackLimit=0', 'fast-import', '--quiet', '--force'];
  await feed('git', args, Buffer.concat(parts));
  const refs = new Map(
    (await origin.git('for-each-ref', '--format=%(refname:short) %(objectname)')).split('\n').map((each) => {
      const [name = '', oid = ''] = each.split(' ');
      return [name, oid];
    }),
  );
  return stories.map((_, i) => ({
    ancestor: refs.get(`o${i}`) ?? '',
    base: refs.get(`b${i}`) ?? '',
    head: refs.get(`h${i}`) ?? '',
  }));
}

/** What git itself makes of a merge: the id of the tree, and the paths in conflict. */
async function gitMerge(
  origin: Origin,
  { base, head }: Written,
  renames: boolean,
): Promise<{ id: string; conflicts: string[] }> {
  const config = ['-c', `merge.renames=${renames}`];
  const args = [
    '-C',
    origin.dir,
    ...config,
    'merge-tree',
    '--write-tree',
    '-z',
    '--name-only',
    '--no-messages',
    base,
    head,
  ];
  const { stdout } = await run('git', args).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 1 && 'stdout' in error)
      return { stdout: String(error.stdout) };
    throw error;
  });
  const [id = '', ...conflicts] = stdout.split('\0').filter((part) => part !== '');
  return { id, conflicts: [...new Set(conflicts)].sort() };
}

function openStore(origin: Origin): ObjectStore {
  return new ObjectStore(origin.dir, 32 * MiB);
}

async function textAt(tree: FileTree, path: string): Promise<string | undefined> {
  const bytes = await tree.read(path);
  return bytes && Buffer.from(bytes).toString();
}

/** A folder that one side removed and the other replaced by a file: git reports a conflict, though nothing collides. */
function isGoneAndReplaced(story: Story | undefined): boolean {
  if (story === undefined) return false;
  const start = lay(story.ancestor);
  const sides = [edited(start, story.base), edited(start, story.head)].map(Object.keys);
  return ['d', 'd/e', 'd/a', 'd/b', 'f', 'a', 'b'].some((path) => {
    const below = (all: string[]): boolean => all.some((each) => each.startsWith(`${path}/`));
    const absent = (all: string[]): boolean => !all.includes(path) && !below(all);
    return below(Object.keys(start)) && sides.some((all) => all.includes(path)) && sides.some(absent);
  });
}

/** One side takes a file away and brings another: versions of git that heed no `merge.renames` here may take it for a rename. */
function mayBeRenamed(story: Story | undefined): boolean {
  if (story === undefined) return false;
  const start = lay(story.ancestor);
  return [story.base, story.head].some((edits) => {
    const side = edited(start, edits);
    const isGone = Object.keys(start).some((path) => side[path] === undefined);
    return isGone && Object.keys(side).some((path) => start[path] === undefined);
  });
}

/** The same stories each time; others with ESPALIER_TEST_SEED. */
const SEED = Number(process.env.ESPALIER_TEST_SEED ?? 20_261_118);

/** `d` is a file in some stories and a folder in others. */
function inTheWay(path: string): boolean {
  return path === 'd' || path.startsWith('d/');
}

describe('a merge that nobody made', () => {
  test('has the tree that git gives it, over hundreds of histories, and conflicts where git has them', async (t) => {
    const origin = await makeOrigin(folder.path, `m${count++}.git`);
    const seed = SEED;
    t.diagnostic(`seed ${seed}`);
    const stories = fc.sample(story, { numRuns: 400, seed });
    const written = await writeStories(origin, stories);
    const store = openStore(origin);
    t.after(() => store.close());
    const seen = { clean: 0, conflicts: 0 };
    for (const [i, commits] of written.entries()) {
      if (isGoneAndReplaced(stories[i]) || mayBeRenamed(stories[i])) continue;
      const theirs = await gitMerge(origin, commits, false);
      const ours = await mergeTrees(store, commits);
      const said = `seed ${seed}, story ${i}: ${JSON.stringify(stories[i])}`;
      // Where files and folders collide git moves files to names of its own: there the fact counts, not the paths.
      const moved =
        theirs.conflicts.some((path) => path.includes('~')) || [...ours.conflicts, ...theirs.conflicts].some(inTheWay);
      if (!moved) assert.deepEqual(ours.conflicts, theirs.conflicts, said);
      assert.equal(ours.conflicts.length > 0, theirs.conflicts.length > 0, said);
      if (theirs.conflicts.length > 0) seen.conflicts += 1;
      else {
        seen.clean += 1;
        assert.equal(ours.id, theirs.id, said);
      }
      assert.equal(await ours.tree.id(''), ours.id);
    }
    t.diagnostic(JSON.stringify(seen));
    assert.ok(seen.clean > 80 && seen.conflicts > 50, JSON.stringify(seen));
  });

  test('is what a person gets who merges in a work tree, and what squashing gives', async (t) => {
    const origin = await makeOrigin(folder.path, `m${count++}.git`);
    const [ancestor = '', base = '', head = ''] = [
      await origin.commit({ 'apps/a.yaml': 'a: 1\nb: 1\nc: 1\nd: 1\n', 'apps/gone.yaml': 'x', 'docs/readme': 'hi' }),
      await origin.commit({ 'apps/a.yaml': 'a: 2\nb: 1\nc: 1\nd: 1\n', 'apps/gone.yaml': 'x', 'docs/readme': 'hello' }),
      await origin.commit(
        { 'apps/a.yaml': 'a: 1\nb: 1\nc: 1\nd: 2\n', 'docs/readme': 'hi', 'new/b': 'b' },
        { branch: 'topic', parent: null },
      ),
    ];
    const grafted = await origin.raw(
      'commit',
      commitBytes(await origin.git('rev-parse', `${head}^{tree}`), [ancestor]),
    );
    await origin.git('update-ref', 'refs/heads/topic', grafted);
    const work = join(folder.path, `work${count++}`);
    await run('git', ['clone', '--quiet', origin.dir, work]);
    const inWork = async (...args: string[]): Promise<string> =>
      (await run('git', ['-C', work, '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args])).stdout.trim();
    await inWork('merge', '--quiet', '--no-ff', '--no-commit', 'origin/topic');
    const merged = await inWork('write-tree');
    await inWork('reset', '--quiet', '--hard', base);
    await inWork('merge', '--quiet', '--squash', 'origin/topic');
    assert.equal(await inWork('write-tree'), merged);

    // Objects lie loose in the origin; a pack is what our reader reads.
    await origin.git('repack', '-adq');
    const store = openStore(origin);
    t.after(() => store.close());
    const { tree, id, conflicts } = await mergeTrees(store, { ancestor, base, head: grafted });
    assert.equal(id, merged);
    assert.deepEqual(conflicts, []);
    assert.equal(tree.commit, grafted);
    assert.equal(await textAt(tree, 'apps/a.yaml'), 'a: 2\nb: 1\nc: 1\nd: 2\n');
    assert.equal(await textAt(tree, 'docs/readme'), 'hello');
    assert.equal(await textAt(tree, 'apps/gone.yaml'), undefined);
    const all = await Array.fromAsync(tree.walk(''), ({ path }) => path);
    assert.deepEqual(all, ['apps', 'apps/a.yaml', 'docs', 'docs/readme', 'new', 'new/b']);
    assert.equal(await tree.id('apps/a.yaml'), await inWork('rev-parse', ':apps/a.yaml'));
  });

  test("keeps the head's version where there is a conflict, and a rename against a change is one", async (t) => {
    const origin = await makeOrigin(folder.path, `m${count++}.git`);
    const lines = Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join('');
    const ancestor = await origin.commit({ a: 'o\n', kept: lines, d: 'x' });
    const base = await origin.commit({ a: 'base\n', kept: `${lines}more\n`, d: 'x' });
    const head = await origin.commit({ a: 'head\n', renamed: lines, d: 'x' }, { branch: 'topic', parent: ancestor });
    await origin.git('repack', '-adq');
    const store = openStore(origin);
    t.after(() => store.close());
    const { tree, conflicts } = await mergeTrees(store, { ancestor, base, head });
    assert.deepEqual(conflicts, ['a', 'kept']);
    assert.equal(await textAt(tree, 'a'), 'head\n');
    assert.equal(await textAt(tree, 'kept'), undefined);
    assert.equal(await textAt(tree, 'renamed'), lines);
  });

  test('looks into no folder that one side alone changed', async (t) => {
    const origin = await makeOrigin(folder.path, `m${count++}.git`);
    const files = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`plugins/p${i}/values.yaml`, `n: ${i}\n`]));
    const ancestor = await origin.commit(files);
    const base = await origin.commit({ ...files, 'plugins/p7/values.yaml': 'n: base\n' });
    const head = await origin.commit(
      { ...files, 'plugins/p9/values.yaml': 'n: head\n' },
      { branch: 'topic', parent: ancestor },
    );
    await origin.git('repack', '-adq');
    const store = openStore(origin);
    t.after(() => store.close());
    let reads = 0;
    const counted = {
      read: (oid: string) => {
        reads += 1;
        return store.read(oid);
      },
      has: (oid: string) => store.has(oid),
      need: (oid: string) => store.need(oid),
    };
    const { conflicts, id } = await mergeTrees(counted, { ancestor, base, head });
    assert.deepEqual(conflicts, []);
    assert.equal(id, (await gitMerge(origin, { ancestor, base, head }, true)).id);
    // Three commits, three roots and three lists of plugins.
    assert.equal(reads, 9);
  });

  test('keeps links, submodules and names that are not UTF-8 as they are', async (t) => {
    const origin = await makeOrigin(folder.path, `m${count++}.git`);
    const blob = await origin.raw('blob', Buffer.from('target'));
    const module = '1'.repeat(40);
    const odd = Buffer.from([0x66, 0xff, 0xfe]);
    const commit = async (entries: Parameters<typeof treeBytes>[0], parents: string[]): Promise<string> =>
      origin.raw('commit', commitBytes(await origin.raw('tree', treeBytes(entries)), parents));
    const ancestor = await commit(
      [
        ['100644', odd, blob],
        ['120000', 'link', blob],
      ],
      [],
    );
    const base = await commit(
      [
        ['100644', odd, blob],
        ['120000', 'link', blob],
        ['160000', 'module', module],
      ],
      [ancestor],
    );
    const head = await commit(
      [
        ['100755', odd, blob],
        ['120000', 'link', blob],
        ['100644', 'new', blob],
      ],
      [ancestor],
    );
    for (const [name, oid] of Object.entries({ base, head })) await origin.git('update-ref', `refs/heads/${name}`, oid);
    await origin.git('repack', '-adq');
    const store = openStore(origin);
    t.after(() => store.close());
    const { tree, id, conflicts } = await mergeTrees(store, { ancestor, base, head });
    assert.deepEqual(conflicts, []);
    assert.equal(id, (await gitMerge(origin, { ancestor, base, head }, true)).id);
    assert.deepEqual(
      (await tree.list('')).map(({ type, mode }) => `${type} ${mode}`),
      ['file 100755', 'link 120000', 'submodule 160000', 'file 100644'],
    );
  });
});
