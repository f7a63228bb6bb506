import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { refOf } from '../../src/api/index.ts';
import { configMap, getPlugin, getSync, pluginReaches, pluginYaml, syncReaches } from '../support/agent.ts';
import { always, eventually } from '../support/eventually.ts';
import { type ForgeProxy, type InsteadOfAnswer, type PassedRequest, startForgeProxy } from '../support/forgeproxy.ts';
import { ownGitea, testGitea } from '../support/gitea.ts';
import { ALL, type ForgeScene, type ForgeSceneOptions, startForgeScene } from './scene.ts';

const TWO = {
  'plugins/a.yaml': pluginYaml('a', 'a'),
  'a/one.yaml': configMap('a'),
  'plugins/b.yaml': pluginYaml('b', 'b'),
  'b/one.yaml': configMap('b'),
};
/** Is not healthy before somebody says so (`isUp`), and failed when that takes longer than its time-out allows. */
const SLOW = {
  'plugins/web.yaml': pluginYaml('web', 'web', {
    timeout: '8s',
    health: [{ apiVersion: 'v1', kind: 'ConfigMap', ready: "data.state == 'up'" }],
  }),
  'web/web.yaml': configMap('web'),
};
const IS_STATUS = /\/statuses\/[0-9a-f]{40}$/;

/** A scene whose agent speaks to the forge's API through a proxy; Git and webhooks go past it. */
async function proxiedScene(
  t: Pick<TestContext, 'after'>,
  options: Partial<ForgeSceneOptions> = {},
): Promise<{ scene: ForgeScene; proxy: ForgeProxy }> {
  const proxy = await startForgeProxy((await testGitea()).url);
  t.after(() => proxy.close());
  const forge = { url: proxy.url, ...options.forge };
  return { scene: await startForgeScene(t, { files: TWO, ...options, forge }), proxy };
}

/** Instead of the next answer to this status, which Gitea has taken or not, something else: once. */
function once(state: string, fault: InsteadOfAnswer): (request: PassedRequest) => InsteadOfAnswer | undefined {
  let isLeft = true;
  return ({ method, path, body }) => {
    const isIt = method === 'POST' && IS_STATUS.test(path) && body.includes(`"state":"${state}","context":"${ALL}"`);
    if (!isIt || !isLeft) return undefined;
    isLeft = false;
    return fault;
  };
}

async function hasData({ client, namespace }: ForgeScene, name: string, a: string): Promise<void> {
  await eventually(async () => {
    const live = await client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name });
    assert.deepEqual(live?.data, { a });
  });
}

/** The commit is all written, and on record as that: what is left is for the cluster to do. */
async function isWritten({ client, namespace }: ForgeScene, commit: string): Promise<void> {
  await eventually(async () => assert.equal((await getSync(client, namespace)).status?.commit, commit));
}

async function isUp({ client, namespace }: ForgeScene): Promise<void> {
  const web = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'web' };
  await client.patch(web, { data: { state: 'up' } }, { type: 'merge', fieldManager: 'somebody' });
}

async function unanswered({ client, namespace }: ForgeScene) {
  const { status } = await getSync(client, namespace);
  return status?.conditions?.find(({ type }) => type === 'Unanswered');
}

describe('a forge that is down', { concurrency: 2 }, () => {
  test('in mid-rollout stops neither the rollout nor what is applied, and hears the newest state alone afterwards', async (t) => {
    const gitea = await ownGitea(t);
    const scene = await startForgeScene(t, { files: TWO, gitea });
    const { client, namespace, agent, repository } = scene;
    await scene.says(repository.first, 'success', `${ALL}/drift`);
    const before = await scene.history(repository.first);
    const commit = await scene.push(SLOW);
    await scene.says(commit, 'pending');
    await isWritten(scene, commit);
    await gitea.halt();
    await pluginReaches(client, namespace, 'web', 'Failed');
    agent.lookNow();
    await eventually(async () => {
      const { status } = await getSync(client, namespace);
      assert.match(status?.message ?? '', /the state of [0-9a-f]{10} is held$/);
    });
    await isUp(scene);
    await pluginReaches(client, namespace, 'web', 'Ready');
    await eventually(async () => assert.equal((await unanswered(scene))?.reason, 'ForgeUnreachable'));
    for (const name of ['a', 'b']) await hasData(scene, name, '1');
    await gitea.resume();
    assert.equal(await scene.says(commit, 'success'), '3 plugins ready');
    const said = (await scene.history(commit)).map(stateOf);
    assert.deepEqual(said, ['pending', 'success'], 'that it had failed meanwhile is no news any more');
    assert.deepEqual(await scene.history(repository.first), before);
    await eventually(async () => assert.equal(await unanswered(scene), undefined));
    await syncReaches(client, namespace, 'Ready', { commit, timeoutMs: 60_000 });
    await always(async () => assert.equal((await scene.history(commit)).length, 2));
  });

  test('while the agent is restarted hears once what became of the commit, and nothing again', async (t) => {
    const gitea = await ownGitea(t);
    const scene = await startForgeScene(t, { files: TWO, gitea });
    const { client, namespace, repository } = scene;
    await scene.says(repository.first, 'success', `${ALL}/drift`);
    const before = await scene.history(repository.first);
    const commit = await scene.push(SLOW);
    await scene.says(commit, 'pending');
    await isWritten(scene, commit);
    await gitea.halt();
    await scene.restartUnheard();
    await eventually(() => isUp(scene));
    await pluginReaches(client, namespace, 'web', 'Ready');
    for (const name of ['a', 'b']) await hasData(scene, name, '1');
    await gitea.resume();
    assert.equal(await scene.says(commit, 'success'), '3 plugins ready');
    await scene.says(commit, 'success', `${ALL}/drift`);
    await scene.restartAgent();
    const next = await scene.push({ 'README.md': 'more\n' });
    await scene.says(next, 'success');
    assert.deepEqual((await scene.history(commit)).map(stateOf), ['pending', 'success']);
    assert.deepEqual(await scene.history(repository.first), before);
  });
});

describe('an answer of the forge that is lost', { concurrency: 2 }, () => {
  test('is asked for, not said again: the status had arrived', async (t) => {
    const { scene, proxy } = await proxiedScene(t);
    // What is lost is to be an answer about the next commit.
    await scene.says(scene.repository.first, 'success', `${ALL}/drift`);
    proxy.after = once('success', 'reset');
    const commit = await scene.push({ 'a/one.yaml': configMap('a', { a: '2' }) });
    await scene.says(commit, 'success', `${ALL}/drift`);
    await eventually(async () => assert.equal(await unanswered(scene), undefined));
    saidOnce(await scene.history(commit));
  });

  for (const [what, moment] of [
    ['after the forge took it', 'after'],
    ['before the forge had it', 'before'],
  ] as const) {
    test(`by an agent that ends ${what} leaves one status`, async (t) => {
      const { scene, proxy } = await proxiedScene(t);
      // What is lost is to be an answer about the next commit.
      await scene.says(scene.repository.first, 'success', `${ALL}/drift`);
      const files = { 'a/one.yaml': configMap('a', { a: '2' }) };
      const seen = Promise.withResolvers<void>();
      const hang = once('success', 'hang');
      proxy[moment] = (request) => {
        const fault = hang(request);
        if (fault !== undefined) seen.resolve();
        return fault;
      };
      const commit = await scene.push(files);
      await seen.promise;
      const { status } = await getSync(scene.client, scene.namespace);
      const answer = status?.answers?.find((one) => one.commit === commit);
      assert.equal(answer?.statuses.find(({ context }) => context === ALL)?.sent, false, 'on record before it is sent');
      await scene.restartAgent();
      await scene.says(commit, 'success');
      await scene.says(commit, 'success', `${ALL}/drift`);
      const next = await scene.push({ 'README.md': 'more\n' });
      await scene.says(next, 'success');
      saidOnce(await scene.history(commit));
    });
  }
});

interface Refusal {
  fault: InsteadOfAnswer;
  reason: string;
  says: RegExp;
}

const REFUSALS: Record<string, Refusal> = {
  401: { fault: { status: 401 }, reason: 'ForgeAuthFailed', says: /401: injected 401/ },
  403: { fault: { status: 403 }, reason: 'ForgeAuthFailed', says: /403: injected 403/ },
  422: { fault: { status: 422 }, reason: 'ForgeRefused', says: /422: injected 422/ },
  429: {
    fault: { status: 429, headers: { 'retry-after': '3' } },
    reason: 'ForgeLimited',
    says: /takes no more requests for now/,
  },
  500: { fault: { status: 500 }, reason: 'ForgeUnreachable', says: /500: injected 500/ },
  nothing: { fault: 'hang', reason: 'ForgeUnreachable', says: /did not end within 15 s/ },
};
/** As long as nobody asks more often than this, nobody is in a hot loop. */
const WINDOW_MS = 6_000;
const MOST_IN_WINDOW = 12;

describe('R3: a forge that answers', { concurrency: 3 }, () => {
  for (const [what, { fault, reason, says }] of Object.entries(REFUSALS)) {
    test(`${what}: the cluster converges, nobody hammers, the Sync says why, and then it hears the newest state`, async (t) => {
      const { scene, proxy } = await proxiedScene(t);
      const { client, namespace, repository } = scene;
      await scene.says(repository.first, 'success', `${ALL}/drift`);
      const before = await scene.history(repository.first);
      proxy.before = () => fault;
      const commit = await scene.push({ 'a/one.yaml': configMap('a', { a: '2' }) });
      await hasData(scene, 'a', '2');
      await syncReaches(client, namespace, 'Ready', { commit });
      const told = await eventually(
        async () => {
          const condition = await unanswered(scene);
          assert.equal(condition?.reason, reason);
          return condition;
        },
        { timeoutMs: 60_000 },
      );
      assert.match(told?.message ?? '', says);
      proxy.reset();
      await new Promise((resolve) => setTimeout(resolve, WINDOW_MS));
      const { requests } = proxy;
      assert.ok(requests.length <= MOST_IN_WINDOW, requests.map(({ method, path }) => `${method} ${path}`).join('\n'));
      if (what === '429') assert.ok(areApart(requests, 2_900), 'Retry-After is for everything that the account asks');
      proxy.before = undefined;
      // What is malformed stays so: that is tried again in minutes, unless there is something else to say.
      if (what !== '422') {
        assert.equal(await scene.says(commit, 'success'), '2 plugins ready');
        assert.deepEqual((await scene.history(commit)).map(stateOf), ['success'], 'no pending afterwards');
      }
      const next = await scene.push({ 'b/one.yaml': configMap('b', { a: '2' }) });
      assert.equal(await scene.says(next, 'success'), '2 plugins ready');
      await scene.says(commit, 'success');
      assert.deepEqual(await scene.history(repository.first), before, 'what is unchanged is not said again');
      await eventually(async () => assert.equal(await unanswered(scene), undefined));
    });
  }
});

/** Whether after each request there was quiet for so long; two that were under way at once count as one. */
function areApart(requests: readonly PassedRequest[], ms: number): boolean {
  const times = requests.map(({ at }) => at);
  return times.every(
    (at, index) => index === 0 || at - (times[index - 1] ?? 0) > ms || at - (times[index - 1] ?? 0) < 100,
  );
}

/** What is done before the forge has heard that it began is not pending any more. */
function saidOnce(history: readonly string[]): void {
  assert.match(history.map(stateOf).join(), /^(pending,)?success$/);
}

function stateOf(said: string): string {
  return said.split(':')[0] ?? '';
}

describe('S19: what the agent logs in to the forge with', () => {
  test('is in no log, status, event, commit status or comment, in no encoding, though the forge repeats it', async (t) => {
    const canary = 'tok@n/canary+42=%25';
    const lines: string[] = [];
    const { scene, proxy } = await proxiedScene(t, { agent: { onLog: (line) => void lines.push(line) } });
    const { client, namespace, repository } = scene;
    const { name, token: password } = repository.agent;
    /** The login, the password of Git and the secret of webhooks, which are in the same Secret. */
    const tokens = [canary, password, `hook-secret-of-${namespace}`];
    const forms = [...tokens, ...tokens.map((token) => `${name}:${token}`)].flatMap((text) => [
      ...[text, encodeURIComponent(text), encodeURI(text), JSON.stringify(text).slice(1, -1)],
      ...(['base64', 'base64url'] as const).map((encoding) => Buffer.from(text).toString(encoding)),
    ]);
    const secret = { apiVersion: 'v1', kind: 'Secret', namespace, name: 'forge' };
    const log = async (token: string): Promise<void> =>
      void (await client.patch(secret, { data: { token: Buffer.from(token).toString('base64') } }, { type: 'merge' }));
    await repository.push({ 'a/one.yaml': configMap('a', { a: 'proposed' }) }, { branch: 'topic' });
    const { number } = await repository.openPull({ branch: 'topic' });
    await eventually(async () => assert.equal((await repository.comments(number)).length, 1), { timeoutMs: 90_000 });
    const commits = [repository.first];
    await log(canary);
    // What the forge repeats can be hidden once the agent logs in with it, which Gitea refuses.
    commits.push(await scene.push({ 'a/one.yaml': configMap('a', { a: 'refused' }) }));
    await eventually(async () => assert.match((await unanswered(scene))?.message ?? '', /40[13]/));
    for (const status of [500, 401, 422]) {
      proxy.before = () => ({ status, body: JSON.stringify({ message: `who sent ${forms.join(' or ')}?` }) });
      commits.push(await scene.push({ 'a/one.yaml': configMap('a', { a: String(status) }) }));
      await eventually(async () => assert.match((await unanswered(scene))?.message ?? '', new RegExp(`\\(${status}`)));
      await nothingShows(String(status));
    }
    proxy.before = undefined;
    await log(password);
    const last = await scene.push({ 'a/one.yaml': configMap('a', { a: 'last' }) });
    await scene.says(last, 'success');
    commits.push(last);
    assert.ok(lines.length > 0);
    await nothingShows('afterwards');

    async function nothingShows(when: string): Promise<void> {
      const events = await client.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event', namespace });
      const sync = await getSync(client, namespace);
      const histories = await Promise.all(commits.map((commit) => repository.statusHistory(commit)));
      const places = {
        log: lines.join('\n'),
        sync: JSON.stringify(sync.status),
        plugin: JSON.stringify((await getPlugin(client, namespace, 'a'))?.status),
        events: JSON.stringify(events.items.map((event) => [refOf(event), event])),
        statuses: JSON.stringify(histories),
        comments: JSON.stringify(await repository.comments(number)),
        page: await (await fetch(`${scene.agent.url}/syncs/${namespace}/sync`)).text(),
      };
      for (const [place, text] of Object.entries(places))
        for (const form of forms) assert.ok(!text.includes(form), `${when}: ${form} is in the ${place}`);
    }
  });
});
