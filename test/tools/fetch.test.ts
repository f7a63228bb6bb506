import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { fetchFile, fetchText } from '../../src/tools/fetch.ts';
import { namesIn, temporaryFolder } from './support/hello.ts';
import { publisher, rudeServer, sha256 } from './support/publisher.ts';
import { until } from './support/until.ts';

const AT = new URL('https://publisher.test/file');
const OPTIONS = { env: {}, maxBytes: 1_000_000, connectTimeoutMs: 30_000 };

test('a file arrives with its sum, and its size is told on the way', async (t) => {
  const { files, rewriteUrl } = await publisher(t);
  const content = 'x'.repeat(300_000);
  files.set('/file', (_, response) => response.setHeader('content-length', content.length).end(content));
  const file = join(await temporaryFolder(t), 'file');
  const told: unknown[] = [];
  const onProgress = (done: number, total: number | undefined) => told.push([done, total]);
  const fetched = await fetchFile(rewriteUrl(AT), file, { ...OPTIONS, onProgress });
  assert.deepEqual(fetched, { ok: true, value: sha256(content) });
  assert.equal(await readFile(file, 'utf8'), content);
  assert.deepEqual(told.at(-1), [300_000, 300_000]);
});

test('a redirect is followed, an endless one is not', async (t) => {
  const { files, rewriteUrl } = await publisher(t);
  const to = (location: string) => (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(302, { location }).end();
  };
  files
    .set('/file', to('/elsewhere'))
    .set('/elsewhere', 'found')
    .set('/loop', to('/loop'))
    .set('/plain', to('ftp://x/y'));
  assert.deepEqual(await fetchText(rewriteUrl(AT), OPTIONS), { ok: true, value: 'found' });
  const loop = await fetchText(rewriteUrl(new URL('https://publisher.test/loop')), OPTIONS);
  assert.match(loop.ok ? '' : loop.why, /redirects more than 5 times/);
  const plain = await fetchText(rewriteUrl(new URL('https://publisher.test/plain')), OPTIONS);
  assert.match(plain.ok ? '' : plain.why, /redirects from http: to ftp:/);
});

test('an answer that is too large is cut off', async (t) => {
  const { files, rewriteUrl } = await publisher(t);
  files.set('/file', 'x'.repeat(2000));
  const file = join(await temporaryFolder(t), 'file');
  const fetched = await fetchFile(rewriteUrl(AT), file, { ...OPTIONS, maxBytes: 1000 });
  assert.deepEqual(fetched, { ok: false, why: 'the answer is larger than 1000 bytes', unreachable: false });
});

test('a missing file is the answer of a host that can be reached', async (t) => {
  const { rewriteUrl } = await publisher(t);
  const fetched = await fetchText(rewriteUrl(AT), OPTIONS);
  assert.equal(fetched.ok || fetched.unreachable, false);
});

test('a host that takes no connection, hangs up, or does not shake hands is unreachable, and soon', async (t) => {
  const [hangsUp, silent] = [await rudeServer(t, 'hangs up'), await rudeServer(t, 'is silent')];
  const started = Date.now();
  const tls = new URL(`https://127.0.0.1:${silent.port}/file`);
  const nobody = new URL('http://127.0.0.1:1/file');
  for (const url of [hangsUp.rewriteUrl(AT), tls, nobody]) {
    const fetched = await fetchText(url, { ...OPTIONS, connectTimeoutMs: 200 });
    assert.equal(!fetched.ok && fetched.unreachable, true, url.href);
  }
  assert.ok(Date.now() - started < 10_000);
});

test('a host that stops in the middle of an answer does not keep anybody waiting', async (t) => {
  const { files, rewriteUrl } = await publisher(t);
  files.set('/file', (_, response) => response.setHeader('content-length', 10).write('begin'));
  const fetched = await fetchText(rewriteUrl(AT), { ...OPTIONS, idleTimeoutMs: 200 });
  assert.equal(fetched.ok, false);
});

test('an abort ends a download', async (t) => {
  const { files, rewriteUrl } = await publisher(t);
  const abort = new AbortController();
  files.set('/file', (_, response) => response.write('begin'));
  const folder = await temporaryFolder(t);
  const { signal } = abort;
  const fetched = fetchFile(rewriteUrl(AT), join(folder, 'file'), { ...OPTIONS, signal });
  const isWritten = async () => (await namesIn(folder)).length > 0;
  await Promise.race([fetched, until('something is written', isWritten)]);
  abort.abort(new DOMException('too late', 'TimeoutError'));
  await assert.rejects(fetched, { name: 'TimeoutError' });
  assert.deepEqual(await namesIn(folder), ['file']);
});

test('a proxy in the environment is used, and NO_PROXY is honoured', async (t) => {
  const proxy = await publisher(t);
  const direct = await publisher(t);
  direct.files.set('/file', 'direct');
  const url = direct.rewriteUrl(AT);
  const env = { HTTP_PROXY: proxy.rewriteUrl(new URL('https://publisher.test/')).href };
  await fetchText(url, { ...OPTIONS, env });
  assert.deepEqual([proxy.asked, direct.asked], [[url.href], []]);
  const past = await fetchText(url, { ...OPTIONS, env: { ...env, NO_PROXY: '127.0.0.1' } });
  assert.deepEqual(past, { ok: true, value: 'direct' });
});
