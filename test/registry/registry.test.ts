import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type Registry as Client, openRegistry } from '../../src/registry/registry.ts';
import { ADA, type Registry, startRegistry } from '../charts/support/registry.ts';
import { type Front, startFront, writes } from '../mirror/support/front.ts';
import { digestOf, pushImage } from '../mirror/support/images.ts';
import { tempDir } from '../support/tempdir.ts';

let folder: string;
let registry: Registry;
let front: Front;
let client: Client;
const nobody = async () => undefined;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'espalier-test-'));
  registry = await startRegistry(folder);
  front = await startFront(registry.host);
  client = openRegistry({ loginFor: nobody, longestWaitMs: 2000 });
});

after(async () => {
  await client?.close();
  await front?.close();
  await registry?.stop();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(() => {
  front.meddle = undefined;
  front.requests.length = 0;
});

describe('the registry client', () => {
  const place = (repository: string) => ({ host: front.host, repository });

  test('tells what a tag is by HEAD, and fetches a manifest whose digest it has computed itself', async () => {
    const { digest } = await pushImage(registry.host, 'a/b:1', 'one');
    assert.equal((await client.look(place('a/b'), '1'))?.digest, digest);
    assert.equal((await client.manifest(place('a/b'), '1'))?.digest, digest);
    assert.equal(await client.look(place('a/b'), 'none'), undefined);
    assert.deepEqual(
      front.requests.map((one) => one.slice(0, 4).trim()),
      ['HEAD', 'GET', 'HEAD'],
    );
  });

  test('sends a blob once, in one piece or in chunks, and can take it from a repository beside', async () => {
    const small = Buffer.from('small');
    const large = Buffer.alloc(70 * 1024 * 1024, 'x');
    for (const bytes of [small, large]) {
      const descriptor = { mediaType: 'text/plain', digest: digestOf(bytes), size: bytes.length };
      const open = async function* () {
        yield bytes;
      };
      front.requests.length = 0;
      assert.equal(await client.putBlob(place('up/one'), descriptor, open), 'sent');
      const methods = writes(front).map((one) => one.split(' ')[0]);
      assert.deepEqual(methods, bytes === small ? ['POST', 'PUT'] : ['POST', ...Array(5).fill('PATCH'), 'PUT']);
      assert.equal(await client.putBlob(place('up/one'), descriptor, open), 'there');
      assert.equal(await client.putBlob(place('up/two'), descriptor, open, { mount: 'up/one' }), 'mounted');
    }
  });

  test('waits as long as a registry with too much to do asks for, and gives up where that is long', async () => {
    await pushImage(registry.host, 'busy:1', 'busy');
    let refusals = 2;
    let wait = '0';
    front.meddle = (_, answer) => {
      if (refusals-- <= 0) return false;
      answer.writeHead(429, { 'retry-after': wait }).end();
      return true;
    };
    assert.ok(await client.look(place('busy'), '1'));
    assert.equal(front.requests.length, 3);
    [refusals, wait] = [100, '60'];
    await assert.rejects(client.look(place('busy'), '1'), (error: Error) =>
      /answered 429 .*run it again later/.test(error.message),
    );
  });

  test('a registry that takes the question and never answers is given up by its deadline', async () => {
    const hurried = openRegistry({ loginFor: nobody, answerMs: 300 });
    front.meddle = () => true;
    await assert.rejects(hurried.look(place('a/b'), '1'), { code: 'RegistryTimedOut' });
    await hurried.close();
  });

  test('what is not what its digest says is not used', async () => {
    const { digest } = await pushImage(registry.host, 'odd:1', 'odd');
    front.meddle = (asked, answer) => {
      if (asked.method !== 'GET') return false;
      answer.writeHead(200, { 'content-type': 'application/vnd.oci.image.manifest.v1+json' }).end('{"layers":[]}');
      return true;
    };
    await assert.rejects(client.manifest(place('odd'), digest), { code: 'ImageDamaged' });
    const descriptor = { mediaType: 'text/plain', digest, size: 13 };
    const read = async () => {
      for await (const _ of client.blob(place('odd'), descriptor));
    };
    await assert.rejects(read(), { code: 'ImageDamaged', message: /its digest is sha256:/ });
  });

  test('who we are is told to the registry that asks, and to no store that it leads to', async (t) => {
    const folder = await tempDir(t);
    const locked = await startRegistry(folder, { htpasswd: ADA.line });
    t.after(() => locked.stop());
    const authorization = `Basic ${Buffer.from(`${ADA.username}:${ADA.password}`).toString('base64')}`;
    await pushImage(locked.host, 'secret:1', 'secret', { authorization });
    const at = { host: locked.host, repository: 'secret' };
    await assert.rejects(client.look(at, '1'), { code: 'RegistryAuthFailed', message: /wants a login .*docker login/ });
    const wrong = openRegistry({ loginFor: async () => ({ username: 'ada', password: 'no-good' }) });
    await assert.rejects(
      wrong.look(at, '1'),
      (error: Error) => /refused the login/.test(error.message) && !/no-good/.test(error.message),
    );
    const ada = openRegistry({ loginFor: async () => ({ username: ADA.username, password: ADA.password }) });
    assert.ok(await ada.look(at, '1'));
    const bytes = Buffer.from('mine');
    const open = async function* () {
      yield bytes;
    };
    assert.equal(await ada.putBlob(at, { mediaType: 'x/y', digest: digestOf(bytes), size: 4 }, open), 'sent');
    await Promise.all([wrong.close(), ada.close()]);
  });
});
