import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { runCli } from '../../src/cli/run.ts';
import { hookUrl } from '../../src/cli/webhook-url.ts';
import { configMap, getSync, pluginYaml, startTestAgent, syncReaches } from '../support/agent.ts';
import { testNamespace } from '../support/cluster.ts';
import { uniqueName } from '../support/names.ts';
import { espalier } from './support/espalier.ts';
import { startFollowed } from './support/followed.ts';
import { createPlugin, createSync } from './support/objects.ts';

const URL_OF_AGENT = 'https://espalier.example.com';

for (const [args, message] of [
  [['platform'], /required option '--url <url>' not specified/],
  [['--url', URL_OF_AGENT], /missing required argument 'sync'/],
  [['platform', '--url', 'espalier.example.com'], /--url: "espalier\.example\.com" is no https URL/],
  [['platform', '--url', 'ftp://espalier.example.com'], /is no https URL/],
  [['platform', '--url', 'https://ada:s3cret@espalier.example.com'], /--url: it holds a login/],
  [['platform', '--url', `${URL_OF_AGENT}/?a=b`], /has a question mark or a hash/],
  [['platform', '--url', `${URL_OF_AGENT}/#a`], /has a question mark or a hash/],
  [['platform', '--url', `${URL_OF_AGENT}/hooks`], /ends in a path of a webhook/],
  [['platform', '--url', `${URL_OF_AGENT}/hooks/team/platform/`], /give the address of the agent alone/],
  [['plugin/web', '--url', URL_OF_AGENT], /name one Sync/],
  [['a', 'b', '--url', URL_OF_AGENT], /name one Sync/],
] satisfies [string[], RegExp][]) {
  test(`espalier webhook install "${args.join(' ')}" is wrong usage: 64, and what to say instead`, async (t) => {
    const { code, stderr } = await inThisProcess(t, ['webhook', 'install', ...args]);
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /s3cret/);
    assert.equal(code, 64);
  });
}

test('espalier webhook without a subcommand, or with an unknown one, says which there is', async (t) => {
  assert.match((await inThisProcess(t, ['webhook'])).stderr, /Usage: espalier webhook[\s\S]*install .*<sync\.\.\.>/);
  assert.match((await inThisProcess(t, ['webhook', 'instal'])).stderr, /unknown command 'instal'[\s\S]*install/);
});

test('what the forge calls lies below the path at which a proxy serves the agent', () => {
  const url = (text: string) => hookUrl(new URL(text), 'team', 'platform');
  assert.equal(url(URL_OF_AGENT), `${URL_OF_AGENT}/hooks/team/platform`);
  assert.equal(url(`${URL_OF_AGENT}/agents/eu/`), `${URL_OF_AGENT}/agents/eu/hooks/team/platform`);
});

describe('espalier webhook install, on a real Gitea,', { concurrency: 3 }, () => {
  test('has the forge call the agent, which believes it; a secret is made, and used again the next time', async (t) => {
    const files = { 'plugins/a.yaml': pluginYaml('a', 'a'), 'a/one.yaml': configMap('a') };
    const scene = await startFollowed(t, { files });
    const { namespace, repository, client } = scene;
    const agent = await startTestAgent(t, { namespace });
    await syncReaches(client, namespace, 'Ready');
    const args = ['webhook', 'install', 'sync', '-n', namespace, '--url', agent.url ?? ''];
    const url = `${agent.url}/hooks/${namespace}/sync`;

    const dry = await ended(0, [...args, '--dry-run']);
    assert.equal(
      dry.stdout,
      `would put a new random secret into key webhookSecret of Secret ${namespace}/forge\nwould have the forge of ${repository.url} call ${url}\n`,
    );
    assert.deepEqual(await repository.hooks(), []);
    assert.equal((await scene.secret()).webhookSecret, undefined);

    const first = await ended(0, args);
    const { webhookSecret = '', token } = await scene.secret();
    assert.match(webhookSecret, /^[0-9a-f]{64}$/);
    assert.equal(token, repository.agent.token, 'what else is in the Secret stays');
    assert.equal(
      first.stdout,
      `made a random secret in key webhookSecret of Secret ${namespace}/forge\ncreated the webhook of ${repository.url} that calls ${url}\n`,
    );
    assert.match(first.stderr, /Warning: http:\S+ is plain http/);
    assert.ok(!`${first.stdout}${first.stderr}`.includes(webhookSecret));
    const [hook, ...more] = await repository.hooks();
    assert.deepEqual([hook?.url, hook?.active, more], [url, true, []]);

    // The agent polls once an hour: only the forge can have told it.
    const commit = await repository.push({ 'a/one.yaml': configMap('a', { a: '2' }) });
    await syncReaches(client, namespace, 'Ready', { commit });

    const again = await ended(0, [...args.slice(0, 2), 'sync/sync', ...args.slice(3)]);
    assert.equal(
      again.stdout,
      `changed the webhook of ${repository.url} that calls ${url}, signed with key webhookSecret of Secret ${namespace}/forge\n`,
    );
    assert.equal((await scene.secret()).webhookSecret, webhookSecret);
    assert.equal((await repository.hooks()).length, 1);
    const next = await repository.push({ 'a/one.yaml': configMap('a', { a: '3' }) });
    await syncReaches(client, namespace, 'Ready', { commit: next });
    assert.match(
      (await ended(0, [...args, '--dry-run'])).stdout,
      /^would use key webhookSecret of Secret \S+ as it is\n/,
    );
  });

  test('the right that the token lacks is named; the secret stays for the next try', async (t) => {
    const scene = await startFollowed(t);
    await scene.repository.addCollaborator(scene.repository.agent.name, 'write');
    const args = ['webhook', 'install', 'sync', '-n', scene.namespace, '--url', `${URL_OF_AGENT}/agents/eu/`];
    const { uid = '' } = (await getSync(scene.client, scene.namespace)).metadata;
    const owner = { apiVersion: 'espalier.dev/v1alpha1', kind: 'Sync', name: 'sync', uid };
    const secret = { apiVersion: 'v1', kind: 'Secret', namespace: scene.namespace, name: 'forge' };
    await scene.client.patch(secret, { metadata: { ownerReferences: [owner] } }, { type: 'merge' });
    const refused = await ended(2, args);
    assert.match(
      refused.stderr,
      /Secret forge is kept by Sync sync, which may take the key away again: put it there too/,
    );
    assert.match(refused.stderr, /the webhooks of \S+\/platform .*an account that administers the repository/);
    assert.doesNotMatch(refused.stderr, /Warning/);
    const { webhookSecret } = await scene.secret();
    await scene.repository.addCollaborator(scene.repository.agent.name, 'admin');
    const { stdout } = await ended(0, args);
    assert.match(
      stdout,
      /^created the webhook .* calls https:\/\/espalier\.example\.com\/agents\/eu\/hooks\/test-\w+\/sync, signed with/,
    );
    assert.equal((await scene.secret()).webhookSecret, webhookSecret);
  });

  test('a Sync without a forge or its Secret, and one that is not there, are told so', async (t) => {
    const namespace = await testNamespace(t);
    await createSync({ namespace, name: 'plain' });
    const forge = { kind: 'gitea', secretRef: { name: 'nowhere' } };
    await createSync({ namespace, name: 'half', spec: { forge } });
    // A name that no Sync of another test has.
    const other = uniqueName('web');
    await createPlugin({ namespace, name: other });
    const install = (name: string) => ended(2, ['webhook', 'install', name, '-n', namespace, '--url', URL_OF_AGENT]);
    assert.match((await install('plain')).stderr, /Sync test-\w+\/plain has no spec\.forge/);
    assert.match((await install('half')).stderr, /there is no Secret nowhere in namespace test-\w+/);
    assert.match((await install(other)).stderr, /no Sync "web-[\w-]+" in namespace "test-\w+"; there are: half, plain/);
  });
});

async function ended(code: number, args: string[]) {
  const result = await espalier(args);
  assert.equal(result.code, code, `${args.join(' ')}\n${result.stdout}\n${result.stderr}`);
  return result;
}

/** For no cluster is asked. */
async function inThisProcess(t: Pick<TestContext, 'mock'>, args: string[]) {
  const { mock } = t.mock.method(process.stderr, 'write', () => true);
  const code = await runCli(args);
  const stderr = mock.calls.map((call) => call.arguments[0]).join('');
  mock.restore();
  return { code, stderr };
}
