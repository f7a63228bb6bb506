import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EspalierError, type KubeObject, type Plugin, readAs } from '../api/index.ts';
import { Intents } from './intents.ts';
import { readIntents } from './intents-text.ts';

const INTENT = {
  attempted: { key: 'k1' },
  inventory: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'c', namespace: 'ns' }],
};

function plugin(name: string, status?: object, uid = `uid of ${name}`): Plugin {
  const spec = { kind: 'manifests', source: { git: { path: 'apps' } } };
  const metadata = { name, namespace: 'ns', uid };
  const object = { apiVersion: 'espalier.dev/v1alpha1', kind: 'Plugin', metadata, spec };
  return readAs(status === undefined ? object : { ...object, status }, 'Plugin');
}

/** An API server with one ConfigMap, which answers writes when it is told to. */
function world(stored?: KubeObject) {
  const server = { object: stored, writes: 0, failure: undefined as EspalierError | undefined };
  let go = Promise.withResolvers<void>();
  go.resolve();
  const changed: string[] = [];
  const put = async (object: KubeObject, expected: string | undefined): Promise<KubeObject> => {
    server.writes++;
    await go.promise;
    if (server.failure !== undefined) throw server.failure;
    const live = server.object?.metadata.resourceVersion;
    if (live !== expected) throw new EspalierError('KubeConflict', 'somebody else wrote it');
    const resourceVersion = String(Number(live ?? 0) + 1);
    server.object = { ...object, metadata: { ...object.metadata, resourceVersion } };
    return server.object;
  };
  const another = () =>
    new Intents({
      client: {
        get: async () => server.object,
        create: (object) => put(object, undefined),
        update: (object) => put(object, object.metadata.resourceVersion),
      },
      namespace: 'espalier-system',
      log: { debug: () => undefined, warn: () => undefined },
      onChange: (key) => changed.push(key),
    });
  return {
    server,
    changed,
    another,
    intents: another(),
    hold() {
      go = Promise.withResolvers();
      return go.resolve;
    },
    onRecord: () => readIntents(server.object).map((entry) => entry.plugin),
  };
}

const inventoryOf = ({ status }: Plugin): string[] => (status?.inventory ?? []).map(({ name }) => name);

test('intents that come while one is written go on record together, and nobody goes on before', async () => {
  const { intents, server, hold, onRecord, changed } = world();
  await intents.load();
  const release = hold();
  let done = 0;
  const all = ['a', 'b', 'c'].map((name) => intents.record(plugin(name), INTENT).finally(() => done++));
  await new Promise(setImmediate);
  assert.equal(done, 0);
  release();
  assert.deepEqual(await Promise.all(all), [true, true, true]);
  assert.equal(server.writes, 2);
  assert.deepEqual(onRecord(), ['ns/a', 'ns/b', 'ns/c']);
  assert.deepEqual(changed, ['ns/a', 'ns/b', 'ns/c']);
});

test('a Plugin has its intent in its status until that says so itself; what a status write begins from is the cluster', async () => {
  const { intents, onRecord } = world();
  await intents.record(plugin('a'), INTENT);
  const told = intents.over(plugin('a'));
  assert.deepEqual(inventoryOf(told), ['c']);
  assert.equal(told.status?.attempted?.key, 'k1');
  assert.equal(intents.statusInCluster(told), undefined);
  assert.equal(intents.over(told), told);

  const settled = plugin('a', { inventory: [] });
  assert.equal(intents.over(settled), settled);
  assert.equal(intents.statusInCluster(settled), settled.status);
  await intents.record(plugin('b'), INTENT);
  assert.deepEqual(onRecord(), ['ns/b']);
});

test('an intent stays on record while others come, until its own Plugin has a status', async () => {
  const { intents, onRecord } = world();
  await intents.record(plugin('a'), INTENT);
  intents.over(plugin('a', { phase: 'Waiting' }));
  await intents.record(plugin('b'), INTENT);
  assert.deepEqual(onRecord(), ['ns/a', 'ns/b']);
});

test('law 3: the agent that leads next knows them, for that very Plugin and while it has no inventory', async () => {
  const { intents, another } = world();
  await intents.record(plugin('a'), INTENT);
  for (const [candidate, known] of [
    [plugin('a'), ['c']],
    [plugin('a', { inventory: [] }), []],
    [plugin('a', undefined, 'a later one'), []],
    [plugin('b'), []],
  ] as const) {
    const next = another();
    await next.load();
    assert.deepEqual(inventoryOf(next.over(candidate)), known);
  }
});

test('the next agent keeps the intents of the dead on record beside its own', async () => {
  const { intents, another, onRecord } = world();
  await intents.record(plugin('a'), INTENT);
  const next = another();
  await next.load();
  await next.record(plugin('b'), INTENT);
  assert.deepEqual(onRecord(), ['ns/a', 'ns/b']);
  next.forget('ns/a');
  await next.record(plugin('c'), INTENT);
  assert.deepEqual(onRecord(), ['ns/b', 'ns/c']);
});

test('law 1: a record that can not be read keeps the agent from beginning; one that it may not read is none', async () => {
  const failing = (code: 'KubeForbidden' | 'KubeUnreachable') =>
    new Intents({
      client: {
        get: () => Promise.reject(new EspalierError(code, 'no')),
        create: () => Promise.reject(new Error('not asked')),
        update: () => Promise.reject(new Error('not asked')),
      },
      namespace: 'espalier-system',
      log: { debug: () => undefined, warn: () => undefined },
      onChange: () => undefined,
    });
  await assert.rejects(failing('KubeUnreachable').load(), { code: 'KubeUnreachable' });
  const forbidden = failing('KubeForbidden');
  await forbidden.load();
  assert.equal(await forbidden.record(plugin('a'), INTENT), false);
});

test('what is refused goes into the Plugin itself, and what another agent wrote meanwhile stays', async () => {
  const { intents, another, onRecord, server } = world();
  await intents.load();
  await another().record(plugin('other'), INTENT);
  assert.equal(await intents.record(plugin('a'), INTENT), false);
  assert.deepEqual(inventoryOf(intents.over(plugin('a'))), []);
  assert.equal(await intents.record(plugin('b'), INTENT), true);
  assert.deepEqual(onRecord(), ['ns/other', 'ns/b']);

  server.failure = new EspalierError('KubeUnreachable', 'no answer');
  assert.equal(await intents.record(plugin('c'), INTENT), false);
  server.failure = undefined;
  assert.equal(await intents.record(plugin('c'), INTENT), true);
});

test('a record that somebody edited by hand is taken for what is right in it', () => {
  const entry = { plugin: 'ns/a', uid: 'u', ...INTENT };
  const wrong = [
    null,
    1,
    { ...entry, uid: 3 },
    { ...entry, inventory: [{ kind: 'ConfigMap' }] },
    { ...entry, attempted: null },
  ];
  const stored = (intents: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x' },
    data: { intents },
  });
  assert.deepEqual(readIntents(stored(JSON.stringify([...wrong, entry]))), [entry]);
  for (const text of ['', '{', '{}', 'null']) assert.deepEqual(readIntents(stored(text)), []);
  assert.deepEqual(readIntents(undefined), []);
});
