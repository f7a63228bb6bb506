import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readPackets, refusalIn } from './pktline.ts';

async function* chunks(bytes: Buffer, sizes: number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (let i = 0; at < bytes.length; i += 1) {
    const size = Math.max(1, sizes[i % Math.max(1, sizes.length)] ?? bytes.length);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

function line(text: string): string {
  return (text.length + 4).toString(16).padStart(4, '0') + text;
}

test('cuts a stream into the same packets however it arrives', async () => {
  const text = `${line('first\n')}0000${line('')}0001${line('x'.repeat(500))}0002`;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), async (sizes) => {
      const packets = await Array.fromAsync(
        readPackets(chunks(Buffer.from(text), sizes)),
        ({ marker, data }) => marker ?? data.toString(),
      );
      assert.deepEqual(packets, ['first\n', 'flush', '', 'delimiter', 'x'.repeat(500), 'end']);
    }),
    { numRuns: 50 },
  );
});

test('takes a stream that ends too early, or is something else, for an error', async () => {
  for (const text of ['00', '0010abc', `${line('a')}000`, '<!doctype html>', '0003', 'fff1x', '-001']) {
    await assert.rejects(
      Array.fromAsync(readPackets(chunks(Buffer.from(text), [3]))),
      { code: 'GitProtocolError' },
      text,
    );
  }
});

test('reads a refusal, and nothing else for one', async () => {
  const [first, second] = await Array.fromAsync(
    readPackets(chunks(Buffer.from(line('ERR access denied\n') + line('ERROR')), [100])),
  );
  assert.equal(first && refusalIn(first), 'access denied');
  assert.equal(second && refusalIn(second), undefined);
});
