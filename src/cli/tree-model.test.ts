import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_VERSION, type InventoryEntry, type KubeObject, LABEL, type Plugin, type Sync } from '../api/index.ts';
import { painter } from './paint.ts';
import { branchesOf, nodeOf, type Twig } from './tree-model.ts';
import type { TreeNode } from './tree-node.ts';
import { objectNode } from './tree-object.ts';
import { treeLines } from './tree-text.ts';

const sync = (name: string) =>
  ({ apiVersion: API_VERSION, kind: 'Sync', metadata: { name, namespace: 'one' }, spec: {} }) as Sync;

function plugin(
  name: string,
  { owner, needs = [] }: { owner?: string; needs?: string[] } = {},
  rest: object = {},
): Plugin {
  const labels = owner === undefined ? {} : { [LABEL.sync]: owner, [LABEL.syncNamespace]: 'one' };
  const spec = { dependsOn: needs.map((need) => ({ name: need })) };
  return {
    apiVersion: API_VERSION,
    kind: 'Plugin',
    metadata: { name, namespace: 'one', labels },
    spec,
    ...rest,
  } as unknown as Plugin;
}

const namesOf = (twigs: readonly Twig[]) => twigs.map(({ plugin }) => plugin.metadata.name);

test('Plugins hang on the Sync that wrote them, after what they depend on; others stand for themselves', () => {
  const plugins = [
    plugin('a', { owner: 'x', needs: ['b'] }),
    plugin('b', { owner: 'x', needs: ['c'] }),
    plugin('c', { owner: 'x' }),
    plugin('d', { owner: 'gone' }),
    plugin('e'),
  ];
  const [first, second, ...rest] = branchesOf([sync('x'), sync('y')], plugins);
  assert.ok(first !== undefined && 'sync' in first && second !== undefined && 'sync' in second);
  assert.deepEqual(namesOf(first.plugins), ['c', 'b', 'a']);
  assert.deepEqual(second.plugins, []);
  assert.deepEqual(namesOf(rest.flatMap((branch) => ('plugin' in branch ? [branch] : []))), ['d', 'e']);
});

test('a Job that ran once is well though it is gone, and one that failed shows the end of its log', () => {
  const ref = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'one', name: 'migrate' };
  const ran = { ...ref, uid: 'u', once: { key: 'v1', at: '2026-01-01T00:00:00Z' } };
  const { state, message } = objectNode(ran, 'absent', plugin('a'));
  assert.deepEqual([state, message], ['healthy', 'ran once for v1, and is gone']);
  assert.equal(objectNode({ ...ran, once: { key: 'v2' } }, 'absent', plugin('a')).state, 'missing');

  const conditions = [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message: 'gave up' }];
  const live = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'migrate', namespace: 'one', uid: 'u' },
    status: { conditions },
  };
  const log = { object: 'Job one/migrate', uid: 'u', pod: 'migrate-x', container: 'main', at: '' };
  const logs = [
    { ...log, lines: ['no such host', '\u001b[31mgave up'] },
    { ...log, container: 'side', lines: [], why: 'it wrote nothing' },
    { ...log, uid: 'before', lines: ['of the run before'] },
  ];
  const owner = plugin('a', {}, { status: { logs } });
  const root: TreeNode = { ...nodeOf(owner), children: [objectNode({ ...ref, uid: 'u' }, live, owner)] };
  assert.deepEqual(treeLines([root], painter(false)).slice(1), [
    '└─ ✗ Job migrate  BackoffLimitExceeded: gave up',
    '     | migrate-x/main: no such host',
    '     | migrate-x/main: \\u001b[31mgave up',
    '     | migrate-x/side: no lines: it wrote nothing',
  ]);
});

test('nested Plugins hang on the Plugin that renders them, also where a person names only that', () => {
  const nestedIn = (parent: string) => ({ [LABEL.plugin]: parent, [LABEL.pluginNamespace]: 'one' });
  const child = (name: string, parent: string) =>
    plugin(name, {}, { metadata: { name, namespace: 'one', labels: nestedIn(parent) } });
  const all = plugin('all', { owner: 'x' });
  const plugins = [all, child('web', 'all'), child('deep', 'web'), child('lost', 'nothing'), child('self', 'self')];
  const [first, ...rest] = branchesOf([sync('x')], plugins);
  assert.ok(first !== undefined && 'sync' in first);
  const [top] = first.plugins;
  assert.deepEqual(namesOf(first.plugins), ['all']);
  assert.deepEqual(namesOf(top?.nested ?? []), ['web']);
  assert.deepEqual(namesOf(top?.nested[0]?.nested ?? []), ['deep']);
  assert.deepEqual(namesOf(rest.flatMap((branch) => ('plugin' in branch ? [branch] : []))), ['lost', 'self']);
  const [named] = branchesOf([], [all], plugins);
  assert.ok(named !== undefined && 'plugin' in named);
  assert.deepEqual(namesOf(named.nested), ['web']);
});

test('Plugins that depend on each other are all there', () => {
  const branches = branchesOf([], [plugin('a', { needs: ['b'] }), plugin('b', { needs: ['a'] })]);
  assert.equal(branches.length, 2);
});

test('the state of a Plugin follows from its phase, and from what a person has done to it since', () => {
  const stateOf = (
    status: object | undefined,
    { spec = {}, metadata = {} }: { spec?: object; metadata?: object } = {},
  ) => nodeOf(plugin('a', {}, { status, spec, metadata: { name: 'a', ...metadata } })).state;
  assert.equal(stateOf(undefined), 'unknown');
  assert.equal(stateOf({ phase: 'Ready' }), 'healthy');
  assert.equal(stateOf({ phase: 'Waiting' }), 'waiting');
  assert.equal(stateOf({ phase: 'Ready' }, { spec: { suspend: true } }), 'suspended');
  assert.equal(stateOf({ phase: 'Suspended' }, { spec: { suspend: false } }), 'progressing');
  assert.equal(stateOf({ phase: 'Ready' }, { metadata: { deletionTimestamp: 'x' } }), 'terminating');
});

const ENTRY: InventoryEntry = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  namespace: 'one',
  name: 'w',
  uid: '1',
  applied: 'h',
};
const LIVE: KubeObject = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w', namespace: 'one', uid: '1' },
  status: { phase: 'Off' },
};

test('an object that is not there is missing, for the reason that its record gives', () => {
  const { uid: _, ...intended } = ENTRY;
  const why = (entry: InventoryEntry) => objectNode(entry, 'absent').message;
  assert.deepEqual(
    [why(ENTRY), why(intended), why({ ...ENTRY, applied: 'leaving' })],
    ['is gone', 'not created yet', 'is removed'],
  );
  assert.equal(objectNode(ENTRY, { ...LIVE, metadata: { ...LIVE.metadata, uid: '2' } }).state, 'missing');
});

test('what may not be read is unknown, not missing', () => {
  assert.deepEqual(
    [objectNode(ENTRY, new Error('you may not read it'))].map(({ state, message }) => [state, message]),
    [['unknown', 'you may not read it']],
  );
});

test("a Plugin's own rule of health wins over the usual ones", () => {
  const health = [{ apiVersion: 'example.com/v1', kind: 'Widget', ready: "status.phase == 'On'" }];
  const owner = plugin('a', {}, { spec: { health } });
  assert.equal(objectNode(ENTRY, LIVE, plugin('a')).state, 'healthy');
  assert.match(objectNode(ENTRY, LIVE, owner).message, /health expression/);
});

test('an object that only stays because a rule keeps it says so', () => {
  assert.match(objectNode({ ...ENTRY, applied: 'kept' }, LIVE).message, /kept by its deletion rule/);
  assert.equal(objectNode({ ...ENTRY, applied: 'leaving' }, LIVE).state, 'terminating');
});

test('is drawn with a mark for each state, in colour where wanted', () => {
  const leaf = (name: string, rest: Partial<TreeNode> = {}): TreeNode => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    namespace: 'one',
    name,
    state: 'healthy',
    message: '',
    children: [],
    ...rest,
  });
  const root = leaf('root', {
    kind: 'Sync',
    children: [leaf('a', { children: [leaf('b')] }), leaf('c', { namespace: 'two', state: 'failed', message: 'no' })],
  });
  assert.deepEqual(treeLines([root], painter(false)), [
    '✓ Sync one/root',
    '├─ ✓ ConfigMap a',
    '│  └─ ✓ ConfigMap b',
    '└─ ✗ ConfigMap two/c  no',
  ]);
  const last = treeLines([root], painter(true)).at(-1) ?? '';
  assert.ok(last.endsWith('\u001b[31m✗\u001b[0m ConfigMap two/c  \u001b[31mno\u001b[0m'), last);
});

test('what is built in is marked in the tree', () => {
  const built = plugin('dns', {}, { metadata: { name: 'dns', namespace: 'one', labels: { [LABEL.class]: 'system' } } });
  assert.deepEqual(treeLines([nodeOf(built), nodeOf(plugin('web'))], painter(false)), [
    '? Plugin one/dns  [system]  not looked at yet',
    '? Plugin one/web  not looked at yet',
  ]);
});
