import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { type Chart, ChartCache } from '../../src/charts/cache.ts';
import { FakeClock } from '../support/clock.ts';
import { sha256 } from './support/archives.ts';

let dir: string;
let clock: FakeClock;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'espalier-cache-'));
  clock = new FakeClock();
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const open = (maxBytes: number): ChartCache => new ChartCache({ dir, maxBytes, now: () => clock.now() });
const MINUTE = 60_000;

async function put(cache: ChartCache, content: string): Promise<Chart> {
  const bytes = Buffer.from(content.padEnd(1000, '.'));
  const file = await cache.temporary();
  await writeFile(file, bytes);
  return cache.put(file, sha256(bytes), {
    name: content,
    version: '1.0.0',
    type: 'application',
    crds: [],
    usesLookup: false,
    dependencies: [],
    bytes: bytes.length,
  });
}

test('when it is full, what was used longest ago goes, but nothing that was handed out just now', async () => {
  const cache = open(2500);
  const [a, b] = [await put(cache, 'a'), await put(cache, 'b')];
  await clock.advance(11 * MINUTE);
  assert.equal((await cache.get(a.digest))?.name, 'a');
  await clock.advance(MINUTE);
  const c = await put(cache, 'c');
  assert.equal(await cache.get(b.digest), undefined, 'a was used after b');
  assert.equal((await cache.get(a.digest))?.name, 'a');
  const d = await put(cache, 'd');
  for (const { digest } of [a, c, d]) assert.notEqual(await cache.get(digest), undefined, 'all of them may be in use');
  await clock.advance(11 * MINUTE);
  await put(cache, 'e');
  assert.equal((await readdir(join(dir, 'archives'))).filter((name) => name.endsWith('.tgz')).length, 2);
});

test('facts without their archive, an archive without its facts, and half a note count as nothing', async () => {
  const cache = open(10_000);
  const [a, b] = [await put(cache, 'a'), await put(cache, 'b')];
  await rm(a.archive);
  await rm(b.archive.replace('.tgz', '.json'));
  assert.equal(await cache.get(a.digest), undefined);
  assert.equal(await cache.get(b.digest), undefined);
  assert.deepEqual(await readdir(join(dir, 'archives')), []);
  const key = await cache.key('a');
  await writeFile(join(dir, 'notes', key), '{"digest": "sha');
  assert.equal(await cache.note(key), undefined);
});

test('what a killed process left is cleared; what another one writes is not', async () => {
  await open(1000).key('x');
  for (const name of ['old', 'new']) await writeFile(join(dir, 'tmp', name), '');
  await utimes(join(dir, 'tmp', 'old'), 0, 0);
  await open(1000).key('x');
  assert.deepEqual(await readdir(join(dir, 'tmp')), ['new']);
});

test('names of files say nothing of what they stand for, and are the same after a restart', async () => {
  const key = await open(1000).key('https://x', { password: 'p' });
  assert.equal(await open(1000).key('https://x', { password: 'p' }), key);
  await rm(join(dir, 'key'));
  assert.notEqual(await open(1000).key('https://x', { password: 'p' }), key);
});
