import assert from 'node:assert/strict';
import { generateKeyPairSync, verify } from 'node:crypto';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { credentialsFromSecret } from '../../src/git/credentials.ts';
import { makeCertificates } from './support/authority.ts';
import { type GitServer, startGitServer } from './support/gitserver.ts';
import { ALLOWED, BACKENDS, openAt, readText } from './support/open.ts';
import { makeFolder, makeOrigin } from './support/origin.ts';
import { hasSshd, type SshServer, startSshd } from './support/sshd.ts';

const PASSWORD = 'tok@/ü secret';
const BASIC = `Basic ${Buffer.from(`ada:${PASSWORD}`).toString('base64')}`;
const APP_TOKEN = `Basic ${Buffer.from('x-access-token:ghs_installation').toString('base64')}`;

let folder: Awaited<ReturnType<typeof makeFolder>>;
let guarded: GitServer;
let secure: GitServer;
let ca: string;
let older: string;
let commit: string;

before(async () => {
  folder = await makeFolder();
  const origin = await makeOrigin(folder.path, 'a.git');
  older = await origin.commit({ a: 'zero' });
  commit = await origin.commit({ a: 'one' });
  await origin.git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'tag', '-a', '-m', 'note', 'v1.0.0', commit);
  guarded = await startGitServer({ root: folder.path, accept: [BASIC, 'Bearer token-1234', APP_TOKEN] });
  const { ca: authority, ...tls } = await makeCertificates(folder.path);
  ca = authority;
  secure = await startGitServer({ root: folder.path, tls, accept: [BASIC] });
});
after(async () => {
  await guarded.close();
  await secure.close();
  await folder.remove();
});

/** Nothing that an error carries may show the secret, however it is written. */
function holdsNoSecret(error: unknown): boolean {
  const text = `${inspect(error, { depth: 10 })} ${JSON.stringify(error)} ${error instanceof Error ? error.stack : ''}`;
  for (const form of [
    PASSWORD,
    encodeURIComponent(PASSWORD),
    'tok@',
    'tok%40',
    Buffer.from(`ada:${PASSWORD}`).toString('base64'),
  ]) {
    assert.ok(!text.includes(form), `${form} in ${text}`);
  }
  return true;
}

for (const backend of BACKENDS) {
  describe(`reaching a server through the ${backend} backend`, () => {
    const secrets: [string, Record<string, string>][] = [
      ['a user name and a password', { username: 'ada', password: PASSWORD }],
      ['a bearer token', { bearerToken: 'token-1234\n' }],
    ];
    for (const [what, data] of secrets) {
      test(`gets in with ${what}`, async (t) => {
        const credentials = credentialsFromSecret(data, `${guarded.url}/a.git`);
        const repository = await openAt(t, folder.path, guarded, 'a.git', { backend, credentials });
        const resolved = await repository.resolve({ branch: 'main' });
        await repository.fetch(resolved.commit, resolved.ref);
        assert.equal(await readText(repository, commit, 'a'), 'one');
      });
    }

    test('gets in with credentials that the URL holds, and shows them nowhere', async (t) => {
      const url = `${guarded.url.replace('://', `://ada:${encodeURIComponent(PASSWORD)}@`)}/a.git`;
      const repository = await openAt(t, folder.path, guarded, 'a.git', { backend, url });
      assert.equal(repository.url, `${guarded.url}/a.git`);
      assert.equal((await repository.resolve({ branch: 'main' })).commit, commit);
    });

    test('says that credentials are missing, and that they are wrong, without showing them', async (t) => {
      const none = await openAt(t, folder.path, guarded, 'a.git', { backend });
      await assert.rejects(none.resolve({ branch: 'main' }), { code: 'GitAuthFailed' });
      const wrong = credentialsFromSecret({ username: 'eve', password: PASSWORD }, `${guarded.url}/a.git`);
      const refused = await openAt(t, folder.path, guarded, 'a.git', { backend, credentials: wrong });
      await assert.rejects(refused.resolve({ branch: 'main' }), {
        code: 'GitAuthFailed',
        message: /did not accept the credentials/,
      });
      await assert.rejects(refused.fetch(commit), holdsNoSecret);
    });

    test('S19: shows no secret that a server throws back', async (t) => {
      const said = `ERR ${'no '.repeat(190)}: ada:${PASSWORD} ${encodeURIComponent(PASSWORD)} ${BASIC}`;
      const line = `${(said.length + 4).toString(16).padStart(4, '0')}${said}0000`;
      guarded.intercept = (_, response) => {
        response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' }).end(line, 'latin1');
        return true;
      };
      t.after(() => {
        guarded.intercept = undefined;
      });
      const credentials = credentialsFromSecret({ username: 'ada', password: PASSWORD }, `${guarded.url}/a.git`);
      const repository = await openAt(t, folder.path, guarded, 'a.git', { backend, credentials });
      await assert.rejects(repository.resolve({ branch: 'main' }), holdsNoSecret);
      await assert.rejects(repository.fetch(commit), holdsNoSecret);
    });

    test('says that there is no such repository', async (t) => {
      const credentials = credentialsFromSecret({ username: 'ada', password: PASSWORD }, `${guarded.url}/a.git`);
      const repository = await openAt(t, folder.path, guarded, 'none.git', { backend, credentials });
      await assert.rejects(repository.resolve({ branch: 'main' }), { code: 'GitNotFound' });
    });

    test('trusts a server by the authority in the Secret, and no server without it', async (t) => {
      const data = { username: 'ada', password: PASSWORD };
      const credentials = credentialsFromSecret({ ...data, 'ca.crt': ca }, `${secure.url}/a.git`);
      const repository = await openAt(t, folder.path, secure, 'a.git', {
        backend,
        credentials,
        allow: { privateAddresses: true },
      });
      await repository.fetch((await repository.resolve({ branch: 'main' })).commit);
      assert.equal(await readText(repository, commit, 'a'), 'one');
      const strict = await openAt(t, folder.path, secure, 'a.git', {
        backend,
        credentials: credentialsFromSecret(data, `${secure.url}/a.git`),
        allow: ALLOWED,
      });
      await assert.rejects(strict.resolve({ branch: 'main' }), { code: 'GitUnreachable', message: /ca\.crt/ });
    });

    test('goes through a proxy, and around it where it is told to', async (t) => {
      const through: string[] = [];
      const proxy = createServer((request, response) => {
        // Plain http comes as a whole URL.
        through.push(request.url ?? '');
        const url = new URL(request.url ?? '');
        const onward = connect(Number(url.port), url.hostname, () => {
          const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
          onward.write(
            `${request.method} ${url.pathname}${url.search} HTTP/1.1\r\n${headers.join('\r\n')}\r\nconnection: close\r\n\r\n`,
          );
          request.pipe(onward, { end: false });
          onward.pipe(response.socket ?? onward);
        });
      });
      proxy.on('connect', (request, socket) => {
        through.push(`CONNECT ${request.url}`);
        const [host, port] = (request.url ?? '').split(':');
        const onward = connect(Number(port), host, () => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          socket.pipe(onward).pipe(socket);
        });
        onward.on('error', () => socket.destroy());
        socket.on('error', () => onward.destroy());
      });
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
      t.after(() => {
        proxy.closeAllConnections();
        proxy.close();
      });
      const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      const credentials = credentialsFromSecret(
        { username: 'ada', password: PASSWORD, 'ca.crt': ca },
        `${secure.url}/a.git`,
      );
      const options = { backend, credentials };
      const proxied = await openAt(t, folder.path, secure, 'a.git', { ...options, proxy: { url } });
      assert.equal((await proxied.resolve({ branch: 'main' })).commit, commit);
      assert.match(through.join(), /CONNECT 127\.0\.0\.1:/);
      const before = through.length;
      const direct = await openAt(t, folder.path, secure, 'a.git', {
        ...options,
        proxy: { url, noProxy: ['127.0.0.1'] },
      });
      assert.equal((await direct.resolve({ branch: 'main' })).commit, commit);
      assert.equal(through.length, before);
    });
  });
}

test('gets a GitHub App in with a token that it asks for once', async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const asked: string[] = [];
  let now = 1_700_000_000_000;
  const api = createServer((request, response) => {
    const [head = '', claims = '', proof = ''] = (request.headers.authorization ?? '')
      .replace('Bearer ', '')
      .split('.');
    const valid = verify('RSA-SHA256', Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(proof, 'base64url'));
    asked.push(
      `${request.method} ${request.url} ${valid} ${JSON.parse(Buffer.from(claims, 'base64url').toString()).iss}`,
    );
    response.writeHead(201, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ token: 'ghs_installation', expires_at: new Date(now + 3_600_000).toISOString() }));
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    api.closeAllConnections();
    api.close();
  });
  const data = {
    githubAppID: '12',
    githubAppInstallationID: '34',
    githubAppPrivateKey: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
    githubAppBaseURL: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
  };
  const credentials = credentialsFromSecret(data, `${guarded.url}/a.git`);
  const repository = await openAt(t, folder.path, guarded, 'a.git', { credentials, now: () => now });
  await repository.resolve({ branch: 'main' });
  await repository.resolve({ branch: 'main' });
  assert.deepEqual(asked, ['POST /app/installations/34/access_tokens true 12']);
  now += 3_400_000;
  await repository.resolve({ branch: 'main' });
  assert.equal(asked.length, 2);
});

describe('reaching a server by SSH', {
  skip: hasSshd() ? false : 'no /usr/sbin/sshd on this machine; install openssh-server to run these',
}, () => {
  let sshd: SshServer;
  before(async () => {
    sshd = await startSshd(folder.path);
  });
  after(() => sshd.close());

  function options(data: Record<string, string>): {
    url: string;
    credentials: ReturnType<typeof credentialsFromSecret>;
  } {
    const url = `ssh://${sshd.user}@127.0.0.1:${sshd.port}${folder.path}/a.git`;
    return { url, credentials: credentialsFromSecret(data, url) };
  }

  test('gets in with a key at a host that is known', async (t) => {
    const repository = await openAt(t, folder.path, guarded, '', {
      ...options({ identity: sshd.identity, known_hosts: sshd.knownHosts }),
      pickTag: ([tag]) => tag,
    });
    const resolved = await repository.resolve({ branch: 'main' });
    await repository.fetch(resolved.commit, resolved.ref);
    assert.equal(await readText(repository, commit, 'a'), 'one');
    const refs = await repository.refs();
    const { oid: tag, peeled } = refs.find(({ ref }) => ref === 'refs/tags/v1.0.0') ?? {};
    assert.equal(peeled, commit);
    assert.notEqual(tag, commit);
    assert.equal(refs.find(({ ref }) => ref === 'HEAD')?.target, 'refs/heads/main');
    const annotated = await repository.resolve({ semver: '1.x' });
    assert.deepEqual(annotated, { commit, ref: 'refs/tags/v1.0.0' });
    await assert.rejects(repository.resolve({ branch: 'none' }), {
      code: 'GitRefMissing',
      message: /its branches: main/,
    });
  });

  test('fetches an older commit by its id, and what a tag points at', async (t) => {
    const data = { identity: sshd.identity, known_hosts: sshd.knownHosts };
    const repository = await openAt(t, folder.path, guarded, '', options(data));
    await repository.fetch(older);
    assert.equal(await readText(repository, older, 'a'), 'zero');
    const tagged = await repository.resolve({ tag: 'v1.0.0' });
    await repository.fetch(tagged.commit, tagged.ref);
    assert.equal(await repository.isAncestor(older, commit), 'yes');
  });

  test('gets in with a key under a passphrase', async (t) => {
    const data = { identity: sshd.lockedIdentity, password: sshd.passphrase, known_hosts: sshd.knownHosts };
    const repository = await openAt(t, folder.path, guarded, '', options(data));
    assert.equal((await repository.resolve({ branch: 'main' })).commit, commit);
    const wrong = await openAt(t, folder.path, guarded, '', options({ ...data, password: 'open barley' }));
    await assert.rejects(wrong.resolve({ branch: 'main' }), { code: 'GitAuthFailed' });
  });

  test('gives its key to no host that it does not know, and none to one that lies', async (t) => {
    const repository = await openAt(
      t,
      folder.path,
      guarded,
      '',
      options({ identity: sshd.identity, known_hosts: sshd.wrongHosts }),
    );
    await assert.rejects(repository.resolve({ branch: 'main' }), { code: 'GitHostUnknown', message: /known_hosts/ });
    assert.throws(() => options({ identity: sshd.identity }), { code: 'GitHostUnknown', message: /ssh-keyscan/ });
  });

  test('says that a key is not accepted, and that a repository is not there', async (t) => {
    const stranger = await openAt(
      t,
      folder.path,
      guarded,
      '',
      options({ identity: sshd.strangerIdentity, known_hosts: sshd.knownHosts }),
    );
    await assert.rejects(stranger.resolve({ branch: 'main' }), { code: 'GitAuthFailed' });
    const { url, credentials } = options({ identity: sshd.identity, known_hosts: sshd.knownHosts });
    const nowhere = await openAt(t, folder.path, guarded, '', { url: url.replace('a.git', 'none.git'), credentials });
    await assert.rejects(nowhere.resolve({ branch: 'main' }), { code: 'GitNotFound' });
  });
});
