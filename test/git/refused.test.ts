import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { access, readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isError } from '../../src/api/index.ts';
import { openRepository } from '../../src/git/repository.ts';
import { type GitServer, serve, startGitServer } from './support/gitserver.ts';
import { ALLOWED, BACKENDS, openAt, readText } from './support/open.ts';
import { feed, makeFolder, makeOrigin, type Origin } from './support/origin.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
let server: GitServer;
let origin: Origin;
let commit: string;

before(async () => {
  folder = await makeFolder();
  origin = await makeOrigin(folder.path, 'a.git');
  commit = await origin.commit({ a: 'one' });
  server = await startGitServer({ root: folder.path });
});
after(async () => {
  await server.close();
  await folder.remove();
});

test('S7: refuses URLs that would run or read something, and makes no folder for them', async () => {
  const dir = join(folder.path, 'never');
  const marker = join(folder.path, 'ran');
  const urls = [
    `ext::sh -c touch% ${marker}`,
    `ext::sh%20-c%20touch`,
    `--upload-pack=touch ${marker}`,
    `file://${origin.dir}`,
    origin.dir,
    'git://example.com/a.git',
    `ssh://-oProxyCommand=touch@example.com/a`,
  ];
  for (const url of urls) {
    await assert.rejects(openRepository({ url, dir, allow: ALLOWED }), { code: 'GitBadUrl' }, url);
  }
  await assert.rejects(access(dir));
  await assert.rejects(access(marker));
});

for (const backend of BACKENDS) {
  describe(`a server that is not to be trusted, through the ${backend} backend`, () => {
    test('S8: does not dial addresses inside the cluster, however they are written', async (t) => {
      const hosts = [
        '127.0.0.1',
        'localhost',
        '2130706433',
        '0x7f.1',
        '017700000001',
        '[::1]',
        '[::ffff:127.0.0.1]',
        '[::ffff:7f00:1]',
        '0',
        '127.1',
      ];
      const asked = server.requests.length;
      for (const host of hosts) {
        const url = `http://${host}:${server.port}/a.git`;
        const repository = await openAt(t, folder.path, server, '', { url, backend, allow: { http: true } });
        await assert.rejects(
          repository.resolve({ branch: 'main' }),
          { code: 'GitBadUrl', message: /has a loopback address, which is not allowed/ },
          host,
        );
      }
      for (const address of ['169.254.169.254', '10.96.0.1', '[fd00::1]', '[64:ff9b::a9fe:a9fe]']) {
        const repository = await openAt(t, folder.path, server, '', {
          url: `https://${address}/a.git`,
          backend,
          allow: {},
        });
        await assert.rejects(
          repository.resolve({ branch: 'main' }),
          { code: 'GitBadUrl', message: /not allowed/ },
          address,
        );
      }
      const ssh = await openAt(t, folder.path, server, '', {
        url: 'git@localhost:a.git',
        allow: {},
        knownHosts: 'localhost ssh-ed25519 AAAA',
      });
      await assert.rejects(ssh.resolve({ branch: 'main' }), { code: 'GitBadUrl', message: /loopback/ });
      assert.equal(server.requests.length, asked);
    });

    test('reaches an address in a range that is allowed, and a host on the list only', async (t) => {
      const allow = { http: true, addresses: ['127.0.0.0/8', '::1'] };
      const repository = await openAt(t, folder.path, server, 'a.git', { backend, allow });
      assert.equal((await repository.resolve({ branch: 'main' })).commit, commit);
      await assert.rejects(
        openRepository({ url: `${server.url}/a.git`, dir: folder.path, allow: { ...allow, hosts: ['*.example.com'] } }),
        { code: 'GitBadUrl', message: /not among those allowed/ },
      );
      await assert.rejects(
        openRepository({ url: `${server.url}/a.git`, dir: folder.path, allow: { ...allow, addresses: ['10/8'] } }),
        { code: 'InvalidConfiguration' },
      );
    });

    test('S8: does not follow a redirect to an address that is not allowed', async (t) => {
      const allow = { http: true, addresses: ['127.0.0.1/32'] };
      for (const target of [
        `http://127.0.0.2:${server.port}/a.git`,
        `http://[::ffff:127.0.0.2]:${server.port}/a.git`,
        `http://0/a.git`,
        'file:///etc/passwd',
      ]) {
        const front = await intercepted(t, (request, response) => {
          response.writeHead(302, { location: `${target}${request.url?.replace('/a.git', '')}` }).end();
        });
        const repository = await openAt(t, folder.path, front, 'a.git', { backend, allow });
        await assert.rejects(repository.resolve({ branch: 'main' }), { code: 'GitBadUrl' }, target);
      }
    });

    test('D20: takes a web page for what it is and no branch for missing', async (t) => {
      const front = await intercepted(t, (_, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><h1>Sign in</h1>');
      });
      const repository = await openAt(t, folder.path, front, 'a.git', { backend });
      await assert.rejects(repository.resolve({ branch: 'main' }), {
        code: 'GitProtocolError',
        message: /URL is the one for cloning/,
      });
      await assert.rejects(repository.fetch(commit), { code: 'GitProtocolError' });
    });

    test('D20: takes a list of refs that was cut short for a failure', async (t) => {
      const front = await intercepted(t, (request, response) => {
        if (request.method === 'GET') return serve(request, response, { root: folder.path });
        // What an empty answer looks like when the connection ends before it does.
        response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' }).end();
      });
      const repository = await openAt(t, folder.path, front, 'a.git', { backend });
      const cut = (error: unknown): boolean => isError(error) && error.code !== 'GitRefMissing';
      await assert.rejects(repository.resolve({ branch: 'main' }), cut);
      await assert.rejects(repository.fetch(commit), cut);
    });

    test('says that it can do nothing with SHA-256, rather than see an empty repository', async (t) => {
      const name = `sha256-${backend}.git`;
      const dir = join(folder.path, name);
      await origin.git('init', '--quiet', '--bare', '--object-format=sha256', '--initial-branch=main', dir);
      const input = 'commit refs/heads/main\ncommitter A <a@example.com> 1 +0000\ndata 1\nx\n';
      await feed('git', ['-C', dir, 'fast-import', '--quiet'], Buffer.from(input));
      const repository = await openAt(t, folder.path, server, name, { backend });
      await assert.rejects(repository.resolve({ branch: 'main' }), { code: 'GitProtocolError', message: /SHA-256/ });
    });

    test('D20: an error of the server is none of the repository', async (t) => {
      const front = await intercepted(t, (_, response) => {
        response.writeHead(503, { 'retry-after': '7' }).end('busy');
      });
      const repository = await openAt(t, folder.path, front, 'a.git', { backend });
      await assert.rejects(repository.resolve({ branch: 'main' }), (error) => {
        return isError(error, 'GitUnreachable') && error.retry && error.retryAfterMs === 7000;
      });
      const gone = await openAt(t, folder.path, { url: 'http://127.0.0.1:9' }, 'a.git', { backend });
      await assert.rejects(gone.resolve({ branch: 'main' }), { code: 'GitUnreachable' });
    });

    test('gives up a server that says nothing, at its deadline', async (t) => {
      const front = await intercepted(t, () => undefined);
      const repository = await openAt(t, folder.path, front, 'a.git', { backend, timeoutMs: 300 });
      const started = performance.now();
      await assert.rejects(repository.resolve({ branch: 'main' }), { code: 'GitTimedOut' });
      await assert.rejects(repository.fetch(commit), { code: 'GitTimedOut' });
      assert.ok(performance.now() - started < 15_000);
    });

    test('stops at once when it is closed', async (t) => {
      const front = await intercepted(t, () => undefined);
      const repository = await openAt(t, folder.path, front, 'a.git', { backend });
      const asked = repository.resolve({ branch: 'main' });
      setTimeout(() => void repository.close(), 50);
      await assert.rejects(asked, { code: 'Aborted' });
    });

    test('gives up a repository that is too large while it arrives, and is as before', async (t) => {
      const { origin: large, name } = await makeLarge();
      const repository = await openAt(t, folder.path, server, name, { backend, limits: { packBytes: 300_000 } });
      const small = await large.commit({ a: 'small' }, { branch: 'small' });
      await repository.fetch(small, 'refs/heads/small');
      await assert.rejects(repository.fetch((await repository.resolve({ branch: 'main' })).commit), {
        code: 'GitTooLarge',
      });
      assert.deepEqual(
        (await readdir(repository.dir, { recursive: true })).filter((path) => /tmp_|\.lock$/.test(path)),
        [],
      );
      assert.equal(await readText(repository, small, 'a'), 'small');
      assert.equal((await repository.maintain()).packs, 1);
      const next = await large.commit({ a: 'next' }, { branch: 'small' });
      await repository.fetch(next, 'refs/heads/small');
      assert.equal(await readText(repository, next, 'a'), 'next');
    });
  });
}

describe('what only our own client can notice', () => {
  test('S10: refuses an object that inflates beyond its limit, in bounded memory', async (t) => {
    const bomb = await makeOrigin(folder.path, 'bomb.git');
    await bomb.commit({ zeros: Buffer.alloc(40 * 1024 * 1024) });
    const repository = await openAt(t, folder.path, server, 'bomb.git', {
      backend: 'builtin',
      limits: { objectBytes: 1024 * 1024 },
    });
    const before = process.memoryUsage().arrayBuffers;
    await assert.rejects(repository.fetch((await repository.resolve({ branch: 'main' })).commit), {
      code: 'GitTooLarge',
      message: /40\.0 MiB/,
    });
    assert.ok(process.memoryUsage().arrayBuffers - before < 20 * 1024 * 1024);
  });

  test('refuses a pack of more objects than allowed, and a listing that does not end', async (t) => {
    const many = await openAt(t, folder.path, server, 'a.git', { backend: 'builtin', limits: { objects: 2 } });
    await assert.rejects(many.fetch(commit), { code: 'GitTooLarge', message: /3 objects/ });
    const endless = await intercepted(t, (_, response) => {
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' });
      const more = (): void => {
        while (response.write('0008aaaa'.repeat(1000)));
        response.once('drain', more);
      };
      more();
    });
    const listing = await openAt(t, folder.path, endless, 'a.git', {
      backend: 'builtin',
      limits: { listingBytes: 100_000 },
    });
    await assert.rejects(listing.resolve({ branch: 'main' }), { code: 'GitTooLarge' });
  });

  for (const [what, spoil] of [
    ['cut short', (answer: Buffer) => answer.subarray(0, answer.indexOf('PACK') + 40)],
    [
      'changed on the way',
      (answer: Buffer) => answer.fill(0x55, answer.indexOf('PACK') + 20, answer.indexOf('PACK') + 25),
    ],
  ] as const) {
    test(`a pack that was ${what} is refused, and fetched again the next time`, async (t) => {
      let spoiled = false;
      const front = await intercepted(t, (request, response) => {
        if (request.method !== 'POST' || spoiled) return serve(request, response, { root: folder.path });
        spoiled = true;
        const parts: Buffer[] = [];
        response.write = (chunk: Buffer): boolean => parts.push(chunk) > 0;
        const end = response.end.bind(response);
        Object.assign(response, { end: () => end(spoil(Buffer.concat(parts))) });
        serve(request, response, { root: folder.path });
      });
      const repository = await openAt(t, folder.path, front, 'a.git', { backend: 'builtin' });
      await assert.rejects(repository.fetch(commit), { code: 'GitProtocolError' });
      await repository.fetch(commit);
      assert.equal(await readText(repository, commit, 'a'), 'one');
    });
  }

  test('follows a redirect that is allowed, and leaves credentials where they belong', async (t) => {
    const seen: (string | undefined)[] = [];
    const target = await intercepted(t, (request, response) => {
      seen.push(request.headers.authorization);
      serve(request, response, { root: folder.path });
    });
    const front = await intercepted(t, (request, response) => {
      response.writeHead(301, { location: `${target.url}${request.url?.replace('/old.git', '/a.git')}` }).end();
    });
    const credentials = { kind: 'basic', username: 'ada', password: 'hunter22' } as const;
    const repository = await openAt(t, folder.path, front, 'old.git', { backend: 'builtin', credentials });
    await repository.fetch((await repository.resolve({ branch: 'main' })).commit);
    assert.equal(await readText(repository, commit, 'a'), 'one');
    assert.ok(seen.length >= 4);
    assert.deepEqual(new Set(seen), new Set([undefined]));
  });

  test('asks one thing only when nothing is new', async (t) => {
    const repository = await openAt(t, folder.path, server, 'a.git', { backend: 'builtin' });
    await repository.resolve({ branch: 'main' });
    const before = server.requests.length;
    for (let i = 0; i < 5; i += 1) await repository.resolve({ branch: 'main' });
    assert.equal(server.requests.length - before, 5);
  });
});

type Handler = NonNullable<Parameters<typeof createServer>[1]>;

async function intercepted(t: { after(step: () => Promise<void>): void }, handler: Handler): Promise<{ url: string }> {
  const http = createServer(handler);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}` };
}

let made = 0;
async function makeLarge(): Promise<{ origin: Origin; name: string }> {
  const name = `large${made++}.git`;
  const large = await makeOrigin(folder.path, name);
  const noise = randomBytes(600_000);
  await large.commit({ noise });
  return { origin: large, name };
}
