import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isError } from '../api/index.ts';
import { createCredentials } from './credentials.ts';
import { inClusterConfig, loadKubeconfig } from './kubeconfig.ts';

async function folder(t: TestContext, files: Record<string, string>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  t.after(() => rm(dir, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  return dir;
}

function config(user: string, cluster = '', extra = ''): string {
  return `
clusters: [{name: c, cluster: {server: "https://k8s.example.com:6443/", ${cluster}}}]
users: [{name: u, user: {${user}}}]
contexts: [{name: x, context: {cluster: c, user: u, namespace: web}}]
current-context: x
${extra}`;
}

test('the current context says where and who', () => {
  const read = loadKubeconfig({
    text: config(
      'token: abc, as: jane, as-groups: [a, b]',
      'tls-server-name: other, proxy-url: "http://p:1", certificate-authority-data: Q0E=',
    ),
  });
  assert.deepEqual(read, {
    server: 'https://k8s.example.com:6443',
    serverName: 'other',
    proxyUrl: 'http://p:1',
    ca: { data: Buffer.from('CA') },
    namespace: 'web',
    user: { token: 'abc', impersonate: { name: 'jane', groups: ['a', 'b'] } },
  });
});

test('paths are relative to the file that names them', async (t) => {
  const dir = await folder(t, {
    config: config(
      'tokenFile: secrets/token, client-certificate: me.crt, client-key: /keys/me.key',
      'certificate-authority: ca.crt',
    ),
  });
  const { ca, user } = loadKubeconfig({ path: join(dir, 'config') });
  assert.deepEqual(ca, { file: join(dir, 'ca.crt') });
  assert.deepEqual(user, {
    tokenFile: join(dir, 'secrets/token'),
    cert: { file: join(dir, 'me.crt') },
    key: { file: '/keys/me.key' },
  });
});

test('of several files the first to name a thing wins, and files that are missing are passed over', async (t) => {
  const dir = await folder(t, {
    one: 'current-context: y\ncontexts: [{name: y, context: {cluster: c, user: u}}]',
    two: config('token: two'),
  });
  const env = { KUBECONFIG: [join(dir, 'one'), join(dir, 'none'), join(dir, 'two')].join(':') };
  const read = loadKubeconfig({ env });
  assert.equal(read.namespace, undefined);
  assert.equal(read.user.token, 'two');
  assert.equal(loadKubeconfig({ env, context: 'x' }).namespace, 'web');
});

test('a pod uses its service account', async (t) => {
  const dir = await folder(t, { token: 'abc\n', 'ca.crt': 'CA', namespace: 'espalier-system' });
  const read = inClusterConfig({ KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }, dir);
  assert.equal(read.server, 'https://[fd00::1]:443');
  assert.equal(read.namespace, 'espalier-system');
  assert.equal(await createCredentials(read, { allowExec: false }).authorization(), 'Bearer abc');
});

for (const [title, text, message] of [
  ['no such context', config('').replace('current-context: x', 'current-context: z'), /has no context "z"; it has: x/],
  ['no current context', config('').replace('current-context: x', ''), /no current-context/],
  ['a list that is none', 'clusters: {}', /clusters must be a list/],
  ['a server that is no URL', config('').replace('"https://k8s.example.com:6443/"', 'nowhere'), /no valid server URL/],
  ['a file in a text', config('tokenFile: /var/run/token'), /can't refer to the file/],
] as const) {
  test(`${title} is refused with what is wrong`, () => {
    assert.throws(
      () => loadKubeconfig({ text }),
      (error) => isError(error, 'KubeConfigInvalid') && message.test(error.message),
    );
  });
}

test('a broken file is refused without quoting it', () => {
  assert.throws(
    () => loadKubeconfig({ text: 'users: [{user: {token: c4n4ry' }),
    (error) => isError(error, 'KubeConfigInvalid') && !JSON.stringify([error.message, error.cause]).includes('c4n4ry'),
  );
});

test('a token file is read again when it is a minute old, or refused', async (t) => {
  const dir = await folder(t, { token: 'one', config: config('tokenFile: token') });
  let now = 0;
  const credentials = createCredentials(loadKubeconfig({ path: join(dir, 'config') }), {
    allowExec: false,
    now: () => now,
  });
  assert.equal(await credentials.authorization(), 'Bearer one');
  await writeFile(join(dir, 'token'), 'two\n');
  assert.equal(await credentials.authorization(), 'Bearer one');
  now += 60_000;
  assert.equal(await credentials.authorization(), 'Bearer two');
  await writeFile(join(dir, 'token'), 'three');
  credentials.refresh();
  assert.equal(await credentials.authorization(), 'Bearer three');
});

const exec = 'exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: ';

test('a login program is refused unless it is allowed', async (t) => {
  const program = `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"from-program"}}'`;
  const dir = await folder(t, { config: config(`${exec}sh, args: ["-c", ${JSON.stringify(program)}]}`) });
  const read = loadKubeconfig({ path: join(dir, 'config') });
  assert.throws(
    () => createCredentials(read, { allowExec: false }),
    (error) => isError(error, 'KubeConfigInvalid') && /exec plugin, which is not allowed/.test(error.message),
  );
  assert.equal(await createCredentials(read, { allowExec: true }).authorization(), 'Bearer from-program');
});

test('a login program that fails is told as such', async () => {
  const credentials = createCredentials(loadKubeconfig({ text: config(`${exec}"false"}`) }), { allowExec: true });
  await assert.rejects(credentials.authorization(), (error) => isError(error, 'KubeUnauthorized'));
});

test('a user name and password make a basic login', async () => {
  const credentials = createCredentials(loadKubeconfig({ text: config('username: me, password: "a:b"') }), {
    allowExec: false,
  });
  assert.equal(await credentials.authorization(), `Basic ${Buffer.from('me:a:b').toString('base64')}`);
});
