import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { TarMember } from '../charts/tar-read.ts';
import type { Put, Registry } from '../registry/registry.ts';
import type { Place } from '../registry/types.ts';
import { ONE_PIECE } from '../registry/upload.ts';
import { type Need, sendParts } from './send-parts.ts';

const CHUNK = Buffer.alloc(1024 * 1024, 'x');
const LARGE = ONE_PIECE / CHUNK.length + 1;
const [one, two, three] = ['one', 'two', 'three'].map((repository): Place => ({ host: 'r', repository }));

function member(path: string, chunks: number): TarMember {
  const content = async function* (): AsyncGenerator<Uint8Array> {
    for (let index = 0; index < chunks; index++) yield CHUNK;
  };
  return { path: `./${path}`, type: 'file', kind: 'a file', size: chunks * CHUNK.length, content };
}

function needOf(chunks: number, ...lacking: (Place | undefined)[]): Need {
  const hash = createHash('sha256');
  for (let index = 0; index < chunks; index++) hash.update(CHUNK);
  const descriptor = { mediaType: 'x/y', digest: `sha256:${hash.digest('hex')}`, size: chunks * CHUNK.length };
  return { descriptor, lacking: lacking.filter((place) => place !== undefined) };
}

/** A registry that keeps nothing but what it was asked; it mounts when it is told to. */
function fake(mounts: boolean) {
  const asked: string[] = [];
  const registry: Pick<Registry, 'putBlob'> = {
    async putBlob(place, _descriptor, open, from): Promise<Put> {
      if (mounts && from?.mount !== undefined) {
        asked.push(`${place.repository} from ${from.mount}`);
        return 'mounted';
      }
      let bytes = 0;
      for await (const part of open()) bytes += part.length;
      asked.push(`${place.repository} ${bytes / CHUNK.length}`);
      return 'sent';
    },
  };
  return { asked, registry: registry as Registry };
}

async function send(needs: Map<string, Need>, members: () => TarMember[], registry: Registry) {
  const told: string[] = [];
  let [passes, bytes] = [0, 0];
  await sendParts(needs, {
    registry,
    signal: new AbortController().signal,
    async *members() {
      passes += 1;
      yield* members();
    },
    onBytes: (count) => {
      bytes += count;
    },
    onPart: (_, { repository }, error) => told.push(error === undefined ? repository : `${repository}: ${error}`),
  });
  return { told, passes, megabytes: bytes / CHUNK.length };
}

test('a large part is sent once and taken from one repository to the next', async () => {
  const { asked, registry } = fake(true);
  const needs = new Map([['large', needOf(LARGE, one, two)]]);
  const sent = await send(needs, () => [member('large', LARGE)], registry);
  assert.deepEqual(sent, { told: ['one', 'two'], passes: 1, megabytes: LARGE });
  assert.deepEqual(asked, [`one ${LARGE}`, 'two from one']);
});

test('where a registry takes nothing over, a large part comes by again, and a small one is held', async () => {
  const { asked, registry } = fake(false);
  const needs = new Map([
    ['large', needOf(LARGE, one, two)],
    ['small', needOf(1, one, three)],
  ]);
  const sent = await send(needs, () => [member('small', 1), member('large', LARGE)], registry);
  assert.deepEqual([sent.told.toSorted(), sent.passes], [['one', 'one', 'three', 'two'], 2]);
  assert.deepEqual(asked.toSorted(), [`one ${LARGE}`, `two ${LARGE}`, 'one 1', 'three 1'].toSorted());
});

test('a part that is other than its digest, or not there any more, fails where it belongs', async () => {
  const { asked, registry } = fake(true);
  const needs = new Map([
    ['other', { ...needOf(2, one), descriptor: needOf(3).descriptor }],
    ['gone', needOf(1, two)],
    ['good', needOf(1, three)],
  ]);
  const { told } = await send(needs, () => [member('other', 2), member('good', 1)], registry);
  assert.deepEqual(asked, ['three 1']);
  assert.equal(told.length, 3);
  assert.match(told.join('\n'), /one: .*damaged part .* it has \d+ bytes/);
  assert.match(told.join('\n'), /two: .*gone has left the package/);
});
