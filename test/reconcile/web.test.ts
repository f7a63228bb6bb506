import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startWeb } from '../../src/web/server.ts';
import { configMap, getSync, pluginYaml, syncReaches } from '../support/agent.ts';
import { always, eventually } from '../support/eventually.ts';
import { commitFiles } from '../support/gitserver.ts';
import { uniqueName } from '../support/names.ts';
import { type Scene, startScene } from './scene.ts';

const MIB = 1024 * 1024;
const SECRET = 'a webhook secret';
const files = { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') };

describe('what the agent says over HTTP', { concurrency: 3 }, () => {
  test('a webhook with a valid signature is answered at once and makes the agent look at Git now', async (t) => {
    const scene = await startScene(t, {
      files,
      spec: { forge: { kind: 'forgejo', secretRef: { name: 'forge' }, statuses: false, previews: false } },
    });
    await giveSecret(scene, 'forge');
    const body = '{"ref":"refs/heads/main"}';
    for (const headers of [
      { 'x-hub-signature-256': `sha256=${hmac(body)}` },
      { 'x-gitea-signature': hmac(body) },
      { 'x-forgejo-signature': hmac(body).toUpperCase() },
    ]) {
      const commit = await commitFiles(scene.repository, { 'apps/a/cm.yaml': configMap('a', { a: uniqueName('v') }) });
      const answer = await eventually(async () => {
        const got = await hook(scene, { body, headers });
        assert.equal(got.status, 202);
        return got;
      });
      assert.equal(await answer.text(), 'looking at Git\n');
      await syncReaches(scene.client, scene.namespace, 'Ready', { commit });
    }
  });

  test('a webhook without proof is refused, whatever is wrong with it, and nothing is looked at', async (t) => {
    const scene = await startScene(t, {
      files,
      spec: { forge: { kind: 'gitea', secretRef: { name: 'forge' }, statuses: false, previews: false } },
    });
    const body = '{}';
    const valid = { 'x-hub-signature-256': `sha256=${hmac(body)}` };
    assert.equal((await hook(scene, { body, headers: valid })).status, 401, 'there is no secret');
    await giveSecret(scene, 'forge');
    await eventually(async () => assert.equal((await hook(scene, { body, headers: valid })).status, 202));
    // The Secret and the proven webhook each began a look: one that is still under way would see the next commit.
    await eventually(async () => assert.equal(await syncsToLookAt(scene), 0));
    const before = (await getSync(scene.client, scene.namespace)).status?.commit;
    await commitFiles(scene.repository, { 'apps/a/cm.yaml': configMap('a', { a: 'unseen' }) });
    const sha1 = createHmac('sha1', SECRET).update(body).digest('hex');
    for (const [what, request] of Object.entries({
      none: { body, headers: {} },
      wrong: { body, headers: { 'x-hub-signature-256': `sha256=${hmac('{"other":1}')}` } },
      short: { body, headers: { 'x-hub-signature-256': 'sha256=ab' } },
      empty: { body, headers: { 'x-hub-signature-256': '' } },
      'another algorithm': { body, headers: { 'x-hub-signature': `sha1=${sha1}` } },
      'another algorithm in its place': { body, headers: { 'x-hub-signature-256': `sha1=${sha1}` } },
      'the secret itself': { body, headers: { 'x-hub-signature-256': SECRET } },
      'a wrong token': { body, headers: { 'x-gitlab-token': `${SECRET}x` } },
      'another Sync': { body, headers: valid, path: `/hooks/${scene.namespace}/nobody` },
    })) {
      const answer = await hook(scene, request);
      assert.deepEqual(
        [answer.status, await answer.text()],
        [401, 'this is not signed with the webhook secret of that Sync\n'],
        what,
      );
    }
    await always(async () => assert.equal((await getSync(scene.client, scene.namespace)).status?.commit, before));
  });

  test('S23: the hooks of every forge are proven in its own way and in no other', async (t) => {
    const scene = await startScene(t, { files, spec: { forge: forgeOf('github') } });
    await giveSecret(scene, 'forge');
    const body = '{"ref":"refs/heads/main"}';
    for (const [kind, dialect] of Object.entries(DIALECTS)) {
      await follow(scene, kind);
      const { event, delivery, proof } = dialect;
      const of = (headers: Record<string, string>): Record<string, string> => ({
        ...{ [event.name]: event.push, [delivery]: uniqueName('d') },
        ...headers,
      });
      await eventually(async () => {
        const answer = await hook(scene, { body, headers: of({ [proof.name]: proof.of(body, SECRET) }) });
        assert.deepEqual([answer.status, await answer.text()], [202, 'looking at Git\n'], kind);
      });
      const valid = proof.of(body, SECRET);
      for (const [what, value] of Object.entries({
        missing: undefined,
        empty: '',
        short: valid.slice(0, -1),
        half: valid.slice(0, valid.length / 2),
        long: `${valid}0`,
        'of another secret': proof.of(body, `${SECRET}x`),
        'of another body': kind === 'gitlab' ? `x${SECRET}` : proof.of('{}', SECRET),
        'of another algorithm': createHmac('sha1', SECRET).update(body).digest('hex'),
        'of another algorithm, named': `sha1=${createHmac('sha1', SECRET).update(body).digest('hex')}`,
        'of an algorithm of the name none': 'none=',
        'no hexadecimal': valid.replace(/.$/, 'z'),
      })) {
        const headers = of(value === undefined ? {} : { [proof.name]: value });
        const answer = await hook(scene, { body, headers });
        assert.deepEqual([answer.status, await answer.text()], [401, REFUSED], `${kind}: ${what}`);
      }
      for (const [other, { proof: foreign }] of Object.entries(DIALECTS)) {
        if (dialect.takes.includes(other)) continue;
        const headers = of({ [foreign.name]: foreign.of(body, SECRET) });
        assert.equal((await hook(scene, { body, headers })).status, 401, `${kind}: as ${other} does it`);
      }
    }
    const { client, namespace } = scene;
    const secret = { apiVersion: 'v1', kind: 'Secret', namespace, name: 'forge' };
    const signed = { 'x-forgejo-signature': hmac(body), 'x-gitea-signature': hmac(body) };
    const empty = { 'x-forgejo-signature': createHmac('sha256', '').update(body).digest('hex') };
    await follow(scene, 'forgejo');
    await client.patch(secret, { data: { webhookSecret: '' } }, { type: 'merge' });
    await eventually(async () => assert.equal((await hook(scene, { body, headers: signed })).status, 401));
    assert.equal((await hook(scene, { body, headers: empty })).status, 401, 'an empty secret is none');
    await client.patch(secret, { data: { webhookSecret: null } }, { type: 'merge' });
    for (const headers of [signed, empty])
      await always(async () => assert.equal((await hook(scene, { body, headers })).status, 401), { forMs: 300 });
    assert.equal((await fetch(`${scene.agent.url}/healthz`)).status, 200);
  });

  test('a hook that comes again, as it was, is answered and causes no second look', async (t) => {
    const scene = await startScene(t, { files, spec: { forge: forgeOf('github') } });
    await giveSecret(scene, 'forge');
    const body = '{"ref":"refs/heads/main"}';
    for (const [kind, { event, delivery, proof }] of Object.entries(DIALECTS)) {
      await follow(scene, kind);
      const headers = { [event.name]: event.push, [proof.name]: proof.of(body, SECRET) };
      const send = async (id: string): Promise<string> =>
        await (await hook(scene, { body, headers: { ...headers, [delivery]: id } })).text();
      await eventually(async () => assert.equal(await send(uniqueName('first')), 'looking at Git\n', kind));
      await eventually(async () => assert.equal(await syncsToLookAt(scene), 0));
      const before = await looksAtGit(scene);
      const id = uniqueName('d');
      assert.equal(await send(id), 'looking at Git\n', kind);
      await eventually(async () => assert.equal(await looksAtGit(scene), before + 1));
      for (let times = 0; times < 5; times++) assert.equal(await send(id), 'this came before\n', kind);
      await always(async () => assert.equal(await looksAtGit(scene), before + 1, kind));
      assert.equal(await send(uniqueName('next')), 'looking at Git\n');
      await eventually(async () => assert.equal(await looksAtGit(scene), before + 2));
    }
  });

  test('a body of 60 MB is refused without being read whole, and odd bodies harm nobody', async (t) => {
    const scene = await startScene(t, { files });
    for (const headers of [{}, { 'content-length': String(60 * MIB) }]) {
      const sent = { bytes: 0 };
      // The answer may come before the body is sent: then the client sees a closed connection.
      const answer = await hook(scene, { body: bodyOf(60 * MIB, sent), headers }).catch(() => undefined);
      assert.ok(answer === undefined || answer.status === 413, String(answer?.status));
      assert.ok(sent.bytes < 30 * MIB, `${sent.bytes} bytes were taken`);
    }
    for (const body of ['null', '{', '\u0000', ''])
      assert.equal((await hook(scene, { body, headers: {} })).status, 401);
    assert.equal((await fetch(`${scene.agent.url}/hooks/x`, { method: 'POST' })).status, 404);
    assert.equal((await fetch(`${scene.agent.url}/healthz`)).status, 200);
  });

  test('who sends too slowly is cut off', async (t) => {
    const web = await startWeb({
      host: '127.0.0.1',
      port: 0,
      requestTimeoutMs: 400,
      healthy: () => true,
      ready: () => ({ ready: false, why: 'caches are being filled' }),
      metrics: async () => ({ contentType: 'text/plain', text: '' }),
      syncPage: () => undefined,
      planPage: () => undefined,
      hook: () => ({ status: 202, text: 'never' }),
    });
    t.after(() => web.close());
    for (const beginning of [
      'POST /hooks/a/b HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{',
      'POST /hooks/a/b HTTP/1.1\r\nx-slow: ',
    ]) {
      const started = performance.now();
      const answer = await dripInto(web.port, beginning);
      // Whether the answer arrives before the reset that follows it is the network's affair.
      assert.match(answer, /^(HTTP\/1\.1 408 |$)/);
      assert.ok(performance.now() - started < 10_000);
    }
    const notReady = await fetch(`${web.url}/readyz`);
    assert.deepEqual([notReady.status, await notReady.text()], [503, 'caches are being filled\n']);
  });

  test('/healthz and /readyz answer ok, and /metrics has every name that the documentation has', async (t) => {
    const scene = await startScene(t, { files });
    for (const path of ['healthz', 'readyz']) {
      const answer = await fetch(`${scene.agent.url}/${path}`);
      assert.deepEqual([answer.status, await answer.text()], [200, 'ok\n']);
    }
    const sync = `${scene.namespace}/sync`;
    // Of what it has written the agent hears a moment later itself.
    const text = await eventually(async () => {
      const said = await (await fetch(`${scene.agent.url}/metrics`)).text();
      for (const line of [
        'espalier_queue_depth{kind="plugin"} 0',
        'espalier_plugins{phase="Ready"} 1',
        `espalier_sync_ready{sync="${sync}"} 1`,
        'espalier_held_deletions 0',
        'espalier_drifted_objects 0',
        'espalier_owned_objects 1',
        'espalier_leader 1',
      ])
        assert.ok(said.includes(`\n${line}\n`), line);
      return said;
    });
    const exported = [...text.matchAll(/^# TYPE (espalier_\S+) (\w+)$/gm)].map(([, name]) => name ?? '');
    const documentation = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'http.md'), 'utf8');
    const documented = [...documentation.matchAll(/^\| `(espalier_\w+)/gm)].map(([, name]) => name ?? '');
    assert.deepEqual(exported.filter((name) => !/^espalier_(process|nodejs)_/.test(name)).sort(), documented.sort());
    assert.match(text, new RegExp(`^espalier_sync_commit_age_seconds\\{sync="${sync}"\\} [\\d.]+$`, 'm'));
    assert.match(text, /^espalier_reconcile_duration_seconds_count\{kind="Plugin",outcome="success"\} [1-9]/m);
  });
});

interface HookDialect {
  event: { name: string; push: string };
  delivery: string;
  proof: { name: string; of(body: string, secret: string): string };
  /** Forges whose proof it takes as its own. */
  takes: string[];
}

const hex = (body: string, secret: string): string => createHmac('sha256', secret).update(body).digest('hex');

/** What the forges send, as their documentation has it. */
const DIALECTS: Record<string, HookDialect> = {
  github: {
    event: { name: 'x-github-event', push: 'push' },
    delivery: 'x-github-delivery',
    proof: { name: 'x-hub-signature-256', of: (body, secret) => `sha256=${hex(body, secret)}` },
    takes: ['github'],
  },
  gitlab: {
    event: { name: 'x-gitlab-event', push: 'Push Hook' },
    delivery: 'idempotency-key',
    proof: { name: 'x-gitlab-token', of: (_, secret) => secret },
    takes: ['gitlab'],
  },
  // They send GitHub's headers beside their own.
  gitea: {
    event: { name: 'x-gitea-event', push: 'push' },
    delivery: 'x-gitea-delivery',
    proof: { name: 'x-gitea-signature', of: hex },
    takes: ['gitea', 'github'],
  },
  forgejo: {
    event: { name: 'x-forgejo-event', push: 'push' },
    delivery: 'x-forgejo-delivery',
    proof: { name: 'x-forgejo-signature', of: hex },
    takes: ['forgejo', 'gitea', 'github'],
  },
  bitbucket: {
    event: { name: 'x-event-key', push: 'repo:refs_changed' },
    delivery: 'x-request-id',
    proof: { name: 'x-hub-signature', of: (body, secret) => `sha256=${hex(body, secret)}` },
    takes: ['bitbucket', 'github'],
  },
};
const REFUSED = 'this is not signed with the webhook secret of that Sync\n';

function forgeOf(kind: string): object {
  return { kind, secretRef: { name: 'forge' }, statuses: false, previews: false };
}

/** Makes the scene's repository be on another forge, and waits until the agent has seen that. */
async function follow({ client, namespace }: Scene, kind: string): Promise<void> {
  const ref = { apiVersion: 'espalier.dev/v1alpha1', kind: 'Sync', namespace, name: 'sync' };
  await client.patch(ref, { spec: { forge: { kind } } }, { type: 'merge' });
  await eventually(async () => {
    const { metadata, status } = await getSync(client, namespace);
    assert.equal(status?.observedGeneration, metadata.generation);
  });
}

async function looksAtGit({ agent }: Scene): Promise<number> {
  const text = await (await fetch(`${agent.url}/metrics`)).text();
  const counts = [...text.matchAll(/^espalier_git_poll_duration_seconds_count\{.*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

/** What is answered to a client that writes one more byte every tenth of a second, until its connection is closed. */
async function dripInto(port: number, beginning: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  socket.on('error', () => undefined);
  socket.write(beginning);
  const drip = setInterval(() => socket.write('x'), 100);
  await new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  clearInterval(drip);
  return answer;
}

function hmac(body: string): string {
  return createHmac('sha256', SECRET).update(body).digest('hex');
}

function hook(
  { agent, namespace }: Scene,
  {
    body,
    headers,
    path = `/hooks/${namespace}/sync`,
  }: { body: string | ReadableStream; headers: Record<string, string>; path?: string },
): Promise<Response> {
  return fetch(`${agent.url}${path}`, { method: 'POST', body, headers, duplex: 'half' } as RequestInit);
}

/** Syncs that the agent looks at this moment, or is about to. */
async function syncsToLookAt({ agent }: Scene): Promise<number> {
  const text = await (await fetch(`${agent.url}/metrics`)).text();
  const values = ['depth', 'running'].map(
    (what) => new RegExp(`^espalier_queue_${what}\\{kind="sync"\\} (\\d+)$`, 'm').exec(text)?.[1],
  );
  return values.reduce((sum, value) => sum + Number(value), 0);
}

function bodyOf(length: number, sent: { bytes: number }): ReadableStream {
  const chunk = new Uint8Array(MIB / 4);
  return new ReadableStream({
    pull(controller) {
      if (sent.bytes >= length) return controller.close();
      sent.bytes += chunk.length;
      controller.enqueue(chunk);
    },
  });
}

async function giveSecret({ client, namespace }: Scene, name: string): Promise<void> {
  await client.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    stringData: { webhookSecret: SECRET },
  });
}
