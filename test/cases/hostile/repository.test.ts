import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { API_VERSION } from '../../../src/api/index.ts';
import {
  configMap,
  declareTestSync,
  getPlugin,
  getSync,
  pluginReaches,
  pluginYaml,
  startTestAgent,
  syncReaches,
} from '../../support/agent.ts';
import { kubectl, testClient, testNamespace } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { commitFiles, type NewFile, testGitServer } from '../../support/gitserver.ts';
import { tempDir } from '../../support/tempdir.ts';

/** A good plugin that must come up whatever stands beside it. */
const GOOD = { 'plugins/good.yaml': pluginYaml('good', 'apps/good'), 'apps/good/cm.yaml': configMap('good') };

/** An agent that follows a repository with these files beside the good plugin, and has said what it makes of them. */
async function follow(t: TestContext, files: Record<string, NewFile>): Promise<{ namespace: string }> {
  const namespace = await testNamespace(t);
  const server = await testGitServer(t);
  const repository = await server.createRepository('platform');
  const commit = await commitFiles(repository, { ...GOOD, ...files });
  await declareTestSync(testClient(), { namespace, url: repository.url });
  await startTestAgent(t, { namespace });
  await pluginReaches(testClient(), namespace, 'good', 'Ready');
  await eventually(async () => assert.equal((await getSync(testClient(), namespace)).status?.observed?.commit, commit));
  return { namespace };
}

/** Counts whoever connects. */
async function trap(t: TestContext): Promise<{ url: string; connections(): number }> {
  let connections = 0;
  const server = createServer(
    (_request, response) => void response.end('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: stolen}\n'),
  );
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections };
}

function kustomizePlugin(name: string, path: string): string {
  return pluginYaml(name, path, { kind: 'kustomize' });
}

test('S2 a kustomization that reaches out is refused alone, and nobody connects anywhere', async (t) => {
  const { url, connections } = await trap(t);
  const { namespace } = await follow(t, {
    'plugins/remote.yaml': kustomizePlugin('remote', 'apps/remote'),
    'apps/remote/kustomization.yaml': `resources: [${url}/base.yaml]\n`,
    'plugins/outside.yaml': kustomizePlugin('outside', 'apps/outside'),
    'apps/outside/kustomization.yaml': 'resources: [../../../../etc]\n',
    'plugins/exec.yaml': kustomizePlugin('exec', 'apps/exec'),
    'apps/exec/kustomization.yaml': 'generators: [gen.yaml]\n',
    'apps/exec/gen.yaml': `apiVersion: v1\nkind: Thing\nmetadata:\n  name: x\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {path: ./run.sh}\n`,
    'plugins/charts.yaml': kustomizePlugin('charts', 'apps/charts'),
    'apps/charts/kustomization.yaml': `helmCharts: [{name: x, repo: ${url}, version: 1.0.0}]\n`,
  });
  const sync = await getSync(testClient(), namespace);
  for (const name of ['remote', 'outside', 'exec', 'charts']) {
    await eventually(async () => {
      const told = [
        ...(sync.status?.faults ?? []).map((fault) => `${fault.file} ${fault.object} ${fault.message}`),
        (await getPlugin(testClient(), namespace, name))?.status?.message ?? '',
      ];
      assert.ok(
        told.some(
          (text) =>
            text.includes(name) &&
            /refus|not allowed|outside|leads|remote|can't|helmCharts|generators|only/i.test(text),
        ),
        `${name}: ${told.join(' | ')}`,
      );
    });
    assert.equal(((await getPlugin(testClient(), namespace, name))?.status?.inventory ?? []).length, 0);
  }
  assert.equal(connections(), 0);
});

test('S4 kustomizations that include each other are an error for that plugin, at once', async (t) => {
  const started = Date.now();
  const { namespace } = await follow(t, {
    'plugins/loop.yaml': kustomizePlugin('loop', 'apps/a'),
    'apps/a/kustomization.yaml': 'resources: [../b]\n',
    'apps/b/kustomization.yaml': 'resources: [../a]\n',
  });
  const sync = await getSync(testClient(), namespace);
  await eventually(async () => {
    const told = [
      ...(sync.status?.faults ?? []).map((fault) => fault.message),
      (await getPlugin(testClient(), namespace, 'loop'))?.status?.message ?? '',
    ].join(' | ');
    assert.match(told, /circle|cycle|itself|each other|apps\/a/);
  });
  // A rendering may take minutes.
  assert.ok(Date.now() - started < 60_000);
});

test('S5 hostile names in trees, YAML and values are refused or harmless, and the prototype stays clean', async (t) => {
  const { namespace } = await follow(t, {
    'plugins/proto.yaml': `apiVersion: ${API_VERSION}\nkind: Plugin\nmetadata: {name: proto}\nspec:\n  kind: manifests\n  source: {git: {path: apps/proto}}\n  values: {__proto__: {polluted: true}, constructor: {prototype: {polluted: true}}}\n`,
    'apps/proto/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: proto}\ndata: {__proto__: x}\n',
    'plugins/..\\x.yaml': configMap('backslash'),
    'plugins/constructor.yaml': pluginYaml('constructor', 'apps/__proto__'),
    'apps/__proto__/cm.yaml': configMap('constructor'),
  });
  const sync = await getSync(testClient(), namespace);
  assert.ok(
    sync.status?.faults?.some((fault) => fault.file === 'plugins/proto.yaml'),
    JSON.stringify(sync.status?.faults),
  );
  assert.equal(await getPlugin(testClient(), namespace, 'proto'), undefined);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  await pluginReaches(testClient(), namespace, 'constructor', 'Ready');
});

test('S7 repository URLs that run programs or read files are refused before anything is started', async (t) => {
  const namespace = await testNamespace(t);
  for (const url of [
    'ext::sh -c touch% /tmp/espalier-owned',
    '--upload-pack=touch /tmp/espalier-owned',
    'file:///etc',
    '/etc',
    'https://exa mple.com/x',
  ]) {
    await assert.rejects(
      declareTestSync(testClient(), { namespace, name: 'hostile', url }),
      /must be a Git URL|Invalid value/,
    );
  }
});

test('S19 a clone error shows the credentials of its URL in no encoding, anywhere', async (t) => {
  const namespace = await testNamespace(t);
  const log = join(await tempDir(t), 'agent.log');
  process.env.ESPALIER_TEST_LOG = log;
  t.after(() => delete process.env.ESPALIER_TEST_LOG);
  const server = await testGitServer(t);
  const repository = await server.createRepository('platform', {
    access: { credential: { user: 'u', password: 'right' } },
  });
  const password = 'tok@n/canary+42';
  const url = repository.url.replace('://', `://u:${encodeURIComponent(password)}@`);
  const agent = await startTestAgent(t, { namespace });
  await declareTestSync(testClient(), { namespace, url });
  const sync = await syncReaches(testClient(), namespace, 'Failed');
  await agent.stop();
  const spec = JSON.stringify(sync.spec);
  const events = await kubectl('get', 'events', '-n', namespace, '-o', 'json');
  const shown = `${JSON.stringify(sync.status)}\n${events}\n${await readFile(log, 'utf8')}`;
  assert.match(sync.status?.message ?? '', /401|credential|password|denied|refused/i);
  for (const form of [
    password,
    encodeURIComponent(password),
    Buffer.from(`u:${password}`).toString('base64'),
    Buffer.from(password).toString('base64'),
  ]) {
    assert.ok(!shown.includes(form), `${form} is shown`);
  }
  assert.ok(spec.includes('u:'), 'the URL itself is what the user wrote');
});

test('S27 a wrong interval, time-out, type or field refuses that plugin alone, with file, line and what was expected', async (t) => {
  const wrong = (name: string, line: string): string =>
    `apiVersion: ${API_VERSION}\nkind: Plugin\nmetadata: {name: ${name}}\nspec:\n  kind: manifests\n  source: {git: {path: apps/good}}\n  ${line}\n`;
  const { namespace } = await follow(t, {
    'plugins/interval.yaml': wrong('interval', 'poll: "x"'),
    'plugins/timeout.yaml': wrong('timeout', 'timeout: -5m'),
    'plugins/field.yaml': wrong('field', 'sauce: spicy'),
    'plugins/type.yaml': wrong('type', 'enabled: "yes please"'),
  });
  const faults = (await getSync(testClient(), namespace)).status?.faults ?? [];
  for (const [name, expected] of [
    ['interval', /poll.*duration/],
    ['timeout', /timeout.*duration/],
    ['field', /sauce.*not a field/],
    ['type', /enabled.*(true or false|boolean)/],
  ] as const) {
    const fault = faults.find((one) => one.file === `plugins/${name}.yaml`);
    assert.equal(fault?.line, 7, `${name}: ${JSON.stringify(fault)}`);
    assert.match(fault?.message ?? '', expected);
    assert.equal(await getPlugin(testClient(), namespace, name), undefined);
  }
});

test('S16 values from another namespace are denied', async (t) => {
  const { namespace } = await follow(t, {
    'plugins/thief.yaml': pluginYaml('thief', 'apps/good', {
      valuesFrom: [{ kind: 'Secret', name: 'token', namespace: 'kube-system' }],
    }),
  });
  const faults = (await getSync(testClient(), namespace)).status?.faults ?? [];
  assert.match(faults.map((fault) => fault.message).join(), /namespace.*not a field/);
});

test('S17 a Secret that the API server refuses shows its value nowhere, raw or base64', async (t) => {
  const canary = 'canary-7f3a9b';
  const log = join(await tempDir(t), 'agent.log');
  process.env.ESPALIER_TEST_LOG = log;
  t.after(() => delete process.env.ESPALIER_TEST_LOG);
  const { namespace } = await follow(t, {
    'plugins/leaky.yaml': pluginYaml('leaky', 'apps/leaky'),
    'apps/leaky/a.yaml': `apiVersion: v1\nkind: Secret\nmetadata: {name: leaky}\ndata: {password: "${canary}!!"}\n`,
    'apps/leaky/b.yaml': `apiVersion: v1\nkind: Secret\nmetadata: {name: leaky2}\ntype: kubernetes.io/tls\nstringData: {wrong: ${canary}}\n`,
  });
  const plugin = await pluginReaches(testClient(), namespace, 'leaky', 'Failed');
  assert.match(plugin.status?.message ?? '', /leaky/);
  const shown = [
    JSON.stringify(plugin.status),
    JSON.stringify((await getSync(testClient(), namespace)).status),
    await kubectl('get', 'events', '-n', namespace, '-o', 'json'),
    await readFile(log, 'utf8'),
  ].join('\n');
  for (const form of [
    canary,
    Buffer.from(canary).toString('base64').replace(/=+$/, ''),
    Buffer.from(`${canary}!!`).toString('base64').replace(/=+$/, ''),
  ]) {
    assert.ok(!shown.includes(form), `${form} is shown`);
  }
});
