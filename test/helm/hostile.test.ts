import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { API_VERSION, type KubeObject } from '../../src/api/index.ts';
import { fillingOf, headerOf } from '../../src/playground/charts/tarball.ts';
import { yaml } from '../cases/support/platform.ts';
import { chart, packed, type TarEntry, tarball } from '../support/charts.ts';
import { testNamespace } from '../support/cluster.ts';
import { uniqueName } from '../support/names.ts';
import { configMap } from './charts/fixture.ts';
import { hookJob } from './charts/hooks.ts';
import { dataOf, type HelmScene, startHelmScene } from './support/scene.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';
const TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';
const READS = configMap('stolen', ['text: {{ .Files.Get "token" | quote }}']);

const ZEROS = Buffer.alloc(5_000_000);
const BOMBS: [what: string, archive: Buffer][] = [
  ['in one file', bomb([60 * ZEROS.length])],
  ['in many', bomb(Array<number>(100).fill(ZEROS.length))],
];

/** Many gzips one behind the other are one, so nothing ever holds what it grows to. */
function bomb(sizes: readonly number[]): Buffer {
  const zeros = gzipSync(ZEROS);
  const head = { path: 'bad/Chart.yaml', content: 'apiVersion: v2\nname: bad\nversion: 1.0.0\n' };
  const entries = sizes.flatMap((size, index) => [
    gzipSync(headerOf({ path: `bad/zeros-${index}`, content: '' }, size)),
    ...Array<Buffer>(size / ZEROS.length).fill(zeros),
    gzipSync(fillingOf(size)),
  ]);
  const first = [headerOf(head, head.content.length), Buffer.from(head.content), fillingOf(head.content.length)];
  return Buffer.concat([gzipSync(Buffer.concat(first)), ...entries, gzipSync(Buffer.alloc(1024))]);
}

describe('hostile charts', { concurrency: 2 }, () => {
  test('S1: an archive with a link or a path that leads out is rejected before Helm runs, and another plugin goes on', async (t) => {
    const entries: Record<string, TarEntry> = {
      'a-link-to-a-token': { path: 'bad/token', link: TOKEN },
      'a-link-to-a-folder-above': { path: 'bad/token', link: '../../../etc/passwd' },
      'a-hard-link': { path: 'bad/token', link: '/etc/passwd', hard: true },
      'a-path-that-climbs-out': { path: 'bad/../../token', content: 'text' },
      'an-absolute-path': { path: '/bad/token', content: 'text' },
    };
    const archives = Object.entries(entries).map(([name, entry]): [string, Buffer] => {
      const stolen = READS.replace('name: stolen', `name: ${name}`);
      const head = { path: 'bad/Chart.yaml', content: 'apiVersion: v2\nname: bad\nversion: 1.0.0\n' };
      return [name, tarball([head, { path: 'bad/templates/stolen.yaml', content: stolen }, entry])];
    });
    const scene = await startHelmScene(t);
    await declareArchives(scene, archives);
    await scene.declare(chart('good', { 'templates/good.yaml': configMap('good', ['a: b']) }));
    for (const [name] of archives) {
      const bad = await scene.platform.pluginReaches(name, 'Failed');
      assert.match(bad.status?.message ?? '', /link|outside|path|\.\./i, name);
      assert.doesNotMatch(bad.status?.message ?? '', /root:/, name);
      assert.equal(await scene.platform.get('ConfigMap', name), undefined);
    }
    await scene.platform.pluginReaches('good', 'Ready');
  });

  test('S1: a chart in Git with a link is rejected with its path', async (t) => {
    const scene = await startHelmScene(t);
    const source = { git: { path: 'charts/bad' } };
    await scene.platform.push({
      'charts/bad/Chart.yaml': 'apiVersion: v2\nname: bad\nversion: 1.0.0\n',
      'charts/bad/templates/stolen.yaml': READS,
      'charts/bad/token': { link: TOKEN },
      'plugins/bad.yaml': yaml({
        apiVersion: API_VERSION,
        kind: 'Plugin',
        metadata: { name: 'bad' },
        spec: { kind: 'helm', source },
      }),
    });
    const bad = await scene.platform.pluginReaches('bad', 'Failed');
    assert.match(bad.status?.message ?? '', /charts\/bad\/token.*link|link.*charts\/bad\/token/);
    assert.equal(await scene.platform.get('ConfigMap', 'stolen'), undefined);
  });

  for (const [what, archive] of BOMBS) {
    test(`S10: an archive that grows 800 times, ${what}, is refused with bounded memory`, async (t) => {
      const scene = await startHelmScene(t);
      assert.ok(archive.length < 600_000);
      const before = process.memoryUsage().rss;
      await declareArchive(scene, archive);
      const bad = await scene.platform.pluginReaches('bad', 'Failed');
      assert.match(bad.status?.message ?? '', /bytes|MB|times as large/);
      assert.ok(process.memoryUsage().rss - before < 250_000_000, 'the agent is in this process');
    });
  }

  test('S10: a chart whose name is no name is refused', async (t) => {
    const names = { up: '..', climbs: 'bad/../../x', spaced: 'Bad Name' };
    const scene = await startHelmScene(t);
    const archives = Object.entries(names).map(([plugin, name]): [string, Buffer] => [
      plugin,
      tarball([
        { path: 'bad/Chart.yaml', content: JSON.stringify({ apiVersion: 'v2', name, version: '1.0.0' }) },
        { path: 'bad/templates/a.yaml', content: configMap(plugin, ['a: b']) },
      ]),
    ]);
    await declareArchives(scene, archives);
    for (const [plugin] of archives) {
      const bad = await scene.platform.pluginReaches(plugin, 'Failed');
      assert.match(bad.status?.message ?? '', /name/, plugin);
      assert.equal(await scene.platform.get('ConfigMap', plugin), undefined);
    }
  });

  test('S11: a schema of values that points to a device, a file or a server is refused at once, and the agent is well', async (t) => {
    const refs = ['/dev/zero', 'file:///dev/zero', 'http://127.0.0.1:9/schema.json', 'file:///etc/passwd'];
    const scene = await startHelmScene(t);
    const started = Date.now();
    for (const [index, ref] of refs.entries()) {
      const schema = JSON.stringify({ type: 'object', properties: { a: { $ref: ref } } });
      const files = { 'values.schema.json': schema, 'templates/a.yaml': configMap(`bad-${index}`, ['a: b']) };
      await scene.declare(chart(`bad-${index}`, files), { values: { a: 1 } });
    }
    await scene.declare(chart('good', { 'templates/good.yaml': configMap('good', ['a: b']) }));
    for (const [index, ref] of refs.entries()) {
      const bad = await scene.platform.pluginReaches(`bad-${index}`, 'Failed');
      assert.match(bad.status?.message ?? '', /values\.schema\.json|\$ref|schema/, ref);
      assert.equal(await scene.platform.get('ConfigMap', `bad-${index}`), undefined, ref);
    }
    assert.ok(Date.now() - started < 50_000);
    await scene.platform.pluginReaches('good', 'Ready');
  });

  test('S14: lookup of a Secret in another namespace has the rights of the service account, never those of the agent', async (t) => {
    const elsewhere = await testNamespace(t);
    const scene = await startHelmScene(t, {
      prepare: async (client, namespace) => {
        const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'vault', namespace: elsewhere } };
        await client.create({ ...secret, stringData: { password: 'canary' } } as KubeObject);
        await tenant(client, namespace);
      },
    });
    const looks = (where: string): Record<string, string> => ({
      'templates/stolen.yaml': configMap('stolen', [
        `text: {{ (lookup "v1" "Secret" "${where}" "vault").data | toJson | quote }}`,
      ]),
    });
    await scene.declare(chart('thief', looks(elsewhere)), { serviceAccountName: 'tenant' });
    const failed = await scene.platform.pluginReaches('thief', 'Failed');
    assert.match(failed.status?.message ?? '', /forbidden|cannot get/i);
    assert.equal(await scene.platform.get('ConfigMap', 'stolen'), undefined);
    // Its own namespace is open to it.
    await scene.install(chart('thief', looks(scene.platform.namespace), { version: '1.0.1' }), {
      serviceAccountName: 'tenant',
    });
    assert.equal(dataOf(await scene.platform.get('ConfigMap', 'stolen')).text, 'null');
  });

  test('S16: valuesFrom another namespace is refused with its line', async (t) => {
    const elsewhere = await testNamespace(t);
    const scene = await startHelmScene(t);
    const valuesFrom = [{ kind: 'Secret', name: 'vault', namespace: elsewhere, key: 'values.yaml' }];
    await scene.declare(chart('app', { 'templates/a.yaml': configMap('a', ['a: b']) }), { valuesFrom });
    await scene.platform.says(/plugins\/app\.yaml:\d+.*namespace/);
    assert.equal(await scene.platform.get('ConfigMap', 'a'), undefined);
  });
});

describe('secret values of a release', { concurrency: 2 }, () => {
  const CANARY = `${uniqueName('canary')}-very-secret`;
  const VALUES = { 'values.yaml': JSON.stringify({ password: CANARY }) };
  const secretOf = (lines: string): string => `apiVersion: v1\nkind: Secret\nmetadata: {name: vault}\n${lines}\n`;
  for (const [what, files] of Object.entries({
    'in a Secret that the API server refuses': {
      'templates/bad.yaml': secretOf('stringData: {"not a/key": {{ .Values.password | quote }}}'),
    },
    'that a template fails with': {
      'templates/bad.yaml': '{{ fail (printf "can not use %s" .Values.password) }}',
    },
    'in a document that is no YAML': {
      'templates/bad.yaml': secretOf('stringData: {a: {{ .Values.password }}: [}'),
    },
    'that the schema of values does not allow': {
      'values.schema.json': JSON.stringify({
        properties: { password: { type: 'string', pattern: '^[0-9]+$' } },
      }),
    },
    'in the output of a hook that fails': {
      'templates/bad.yaml': hookJob('bad', { on: 'pre-install' }, 'fails').replace(
        'args: ["{{ .Release.Revision }}"]',
        'args: [{{ .Values.password | quote }}]',
      ),
      'templates/secret.yaml': secretOf('stringData: {a: {{ .Values.password | quote }}}'),
    },
  })) {
    test(`S17: ${what} are in no log, status or event`, async (t) => {
      const log: string[] = [];
      const scene = await startHelmScene(t, {
        agent: { onLog: (line) => void log.push(line) },
        prepare: async (client, namespace) => {
          const metadata = { name: 'values', namespace };
          await client.create({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: VALUES } as KubeObject);
        },
      });
      const valuesFrom = [{ kind: 'Secret', name: 'values', key: 'values.yaml' }];
      await scene.declare(chart('bad', files), { valuesFrom });
      await scene.platform.pluginReaches('bad', 'Failed');
      await assertNowhere(t, scene, log, CANARY);
    });
  }
});

async function assertNowhere(t: TestContext, { platform }: HelmScene, log: string[], canary: string): Promise<void> {
  const { client, namespace } = platform;
  const { items } = await client.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event', namespace });
  const places = {
    plugin: JSON.stringify((await platform.plugin('bad'))?.status),
    sync: JSON.stringify((await platform.sync()).status),
    events: items.map(({ note }) => String(note)).join('\n'),
    log: log.join('\n'),
  };
  t.diagnostic(places.plugin);
  const start = canary.slice(0, 15);
  for (const form of [start, Buffer.from(start).toString('base64').slice(0, 18)])
    for (const [place, text] of Object.entries(places)) assert.ok(!text.includes(form), `${place}: ${text}`);
}

async function declareArchive(scene: HelmScene, archive: Buffer): Promise<void> {
  await declareArchives(scene, [['bad', archive]]);
}

/** A Plugin for each archive, in one commit. */
async function declareArchives(
  { charts, platform }: HelmScene,
  archives: readonly (readonly [plugin: string, archive: Buffer])[],
): Promise<void> {
  const files = archives.map(([name, archive]) => {
    charts.add(packed(name, '1.0.0', archive));
    const source = { chart: { repository: charts.url, name, version: '1.0.0' } };
    const spec = { kind: 'helm', source, timeout: '20s' };
    return [`plugins/${name}.yaml`, yaml({ apiVersion: API_VERSION, kind: 'Plugin', metadata: { name }, spec })];
  });
  await platform.push(Object.fromEntries(files));
}

/** A service account that may do everything in its namespace and nothing beyond. */
async function tenant(client: HelmScene['platform']['client'], namespace: string): Promise<void> {
  await client.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'tenant', namespace } });
  await client.create({
    apiVersion: RBAC,
    kind: 'RoleBinding',
    metadata: { name: 'tenant', namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'tenant', namespace }],
  } as KubeObject);
}
