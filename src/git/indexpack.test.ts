import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { isError } from '../api/index.ts';
import { indexPack } from './indexpack.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { hashObject } from './objects.ts';
import type { PackContents } from './packindex.ts';
import { PackIndex, writeIndex } from './packindex.ts';

const LIMITS = { ...DEFAULT_LIMITS, objectBytes: 100_000 };
const BASE = Buffer.from('the base of it all');
const BASE_OID = hashObject('blob', BASE);
/** A delta that copies the base and adds a letter. */
const delta = (length: number, letter: string): Buffer =>
  Buffer.from([length, length + 1, 0x90, length, 1, letter.charCodeAt(0)]);
const MIDDLE_OID = hashObject('blob', Buffer.from(`${BASE}x`));

test('names deltas whose bases come later in the pack, chains of them included', async () => {
  const contents = await index([
    entry(7, delta(BASE.length + 1, 'y'), Buffer.from(MIDDLE_OID, 'hex')),
    entry(7, delta(BASE.length, 'x'), Buffer.from(BASE_OID, 'hex')),
    entry(3, BASE),
  ]);
  assert.deepEqual(contents.oids, [hashObject('blob', Buffer.from(`${BASE}xy`)), MIDDLE_OID, BASE_OID]);
});

test('names deltas by offset, on one that waits for its base too', async () => {
  const waiting = entry(7, delta(BASE.length, 'x'), Buffer.from(BASE_OID, 'hex'));
  const contents = await index([
    waiting,
    entry(6, delta(BASE.length + 1, 'z'), Buffer.from([waiting.length])),
    entry(3, BASE),
  ]);
  assert.deepEqual(contents.oids, [MIDDLE_OID, hashObject('blob', Buffer.from(`${BASE}xz`)), BASE_OID]);
  const found = new PackIndex(writeIndex(contents));
  assert.deepEqual(
    contents.oids.map((oid) => found.find(oid)),
    contents.offsets,
  );
  assert.equal(found.find('f'.repeat(40)), undefined);
  assert.equal(found.find('0'.repeat(40)), undefined);
});

test('refuses deltas that wait for each other, miss their base or lead outside', async () => {
  const cases = [
    [entry(7, delta(5, 'x'), Buffer.from('1'.repeat(40), 'hex'))],
    [entry(6, delta(5, 'x'), Buffer.from([100]))],
    [entry(6, delta(5, 'x'), Buffer.from([0]))],
    [entry(5, BASE)],
    [entry(3, BASE).subarray(0, -3)],
  ];
  for (const entries of cases) await assert.rejects(index(entries), { code: 'GitProtocolError' });
  await assert.rejects(index([entry(3, BASE)], 2), { code: 'GitProtocolError' });
  await assert.rejects(index([entry(3, BASE), entry(3, BASE)], 1), { code: 'GitProtocolError' });
});

test('refuses an object that says it is small and is not', async () => {
  const lying = Buffer.concat([Buffer.from([0x35]), deflateSync(Buffer.alloc(90_000))]);
  await assert.rejects(index([lying]), { code: 'GitProtocolError' });
  await assert.rejects(index([entry(3, Buffer.alloc(100_001))]), { code: 'GitTooLarge' });
});

test('ends in an error of ours whatever the bytes of a pack are', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 80 }), async (bytes) => {
      await index([Buffer.from(bytes)]).catch((error: unknown) =>
        assert.ok(isError(error, 'GitProtocolError', 'GitTooLarge'), String(error)),
      );
    }),
    { numRuns: 100 },
  );
});

function entry(type: number, data: Buffer, base: Buffer = Buffer.alloc(0)): Buffer {
  const head = [(type << 4) | (data.length & 15)];
  for (let rest = data.length >> 4; rest > 0; rest >>= 7) {
    head[head.length - 1] = (head.at(-1) ?? 0) | 0x80;
    head.push(rest & 0x7f);
  }
  return Buffer.concat([Buffer.from(head), base, deflateSync(data)]);
}

async function index(entries: Buffer[], objects = entries.length): Promise<PackContents> {
  const head = Buffer.alloc(12);
  head.write('PACK');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(objects, 8);
  const body = Buffer.concat([head, ...entries]);
  const checksum = createHash('sha1').update(body).digest();
  const folder = await mkdtemp(join(tmpdir(), 'espalier-pack-'));
  try {
    const path = join(folder, 'pack');
    await writeFile(path, Buffer.concat([body, checksum]));
    const pack = { path, bytes: body.length + 20, objects, checksum: checksum.toString('hex') };
    return await indexPack(pack, LIMITS, new AbortController().signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
