import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ByteCache } from './bytecache.ts';
import { indexPack } from './indexpack.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { type GitObject, hashObject } from './objects.ts';
import { PackFile } from './packfile.ts';
import { writeIndex } from './packindex.ts';
import { packOf } from './packwrite.ts';

/** What deflate can't make smaller, so that objects lie across every bound of what is read together. */
const noise = (seed: number, length: number): Buffer => {
  const parts: Buffer[] = [];
  for (let at = 0; at * 32 < length; at++) parts.push(createHash('sha256').update(`${seed} ${at}`).digest());
  return Buffer.concat(parts).subarray(0, length);
};
const SIZES = [...Array.from({ length: 300 }, (_, index) => 100 + ((index * 37) % 3_000)), 70_000, 300_000, 5, 0];
const OBJECTS = SIZES.map((size, index): GitObject => ({ type: 'blob', data: noise(index, size) }));

async function onDisk<T>(use: (pack: PackFile, oids: string[]) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-pack-'));
  const bytes = packOf(OBJECTS);
  const path = join(folder, 'one.pack');
  await writeFile(path, bytes);
  const checksum = bytes.toString('hex', bytes.length - 20);
  const received = { path, bytes: bytes.length, objects: OBJECTS.length, checksum };
  const contents = await indexPack(received, DEFAULT_LIMITS, AbortSignal.timeout(10_000));
  await writeFile(join(folder, 'one.idx'), writeIndex(contents));
  const pack = await PackFile.open(folder, 'one', 0);
  try {
    return await use(pack, contents.oids);
  } finally {
    await pack.retire();
    await rm(folder, { recursive: true });
  }
}

async function nameOf(pack: PackFile, oid: string): Promise<string> {
  const { type, data } = await pack.read(pack.find(oid) ?? -1, 1_000_000, new ByteCache(1));
  return hashObject(type, data);
}

test('every object of a pack is read whole, in whatever order and however many at a time', async () => {
  await onDisk(async (pack, oids) => {
    for (const order of [oids, oids.toReversed(), oids.toSorted()]) {
      for (const oid of order) assert.equal(await nameOf(pack, oid), oid);
      assert.deepEqual(await Promise.all(order.map((oid) => nameOf(pack, oid))), order);
    }
  });
});

test('a pack that is given up while it is read stays readable until that read ends', async () => {
  await onDisk(async (pack, oids) => {
    const reads = oids.slice(0, 20).map((oid) => nameOf(pack, oid));
    await pack.retire();
    assert.deepEqual(await Promise.all(reads), oids.slice(0, 20));
    assert.equal(pack.retired, true);
  });
});
