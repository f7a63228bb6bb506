import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { API_VERSION, LABEL, refOf } from '../../src/api/index.ts';
import { installKinds } from '../api/install.ts';
import { testClient, testNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { uniqueName } from '../support/names.ts';
import { espalier, startEspalier } from './support/espalier.ts';
import { COMMIT, conditions, createPlugin, createSync, ready, setStatus } from './support/objects.ts';

before(() => installKinds(testClient()));

describe('espalier get', { concurrency: 3 }, () => {
  test('shows Syncs and Plugins as tables, with why something is not ready', async (t) => {
    const namespace = await platform(t);
    const { code, stdout, stderr } = await espalier(['get', '-n', namespace]);
    assert.equal(code, 0);
    assert.equal(stderr, '');
    assert.equal(
      withoutAges(stdout),
      [
        'NAME            READY   COMMIT       PLUGINS   AGE   WHY',
        'sync/platform   True    7a2ad27f44   1/2       #s    1 plugin ready at 7a2ad27f44',
        '',
        'NAME          VERSION      READY     DRIFT   CLASS    AGE   WHY',
        'plugin/dns    -            Unknown   -       -        #s    not looked at yet',
        'plugin/late   -            False     True    -        #s    waiting for web: not applied yet',
        'plugin/web    7a2ad27f44   True      False   system   #s    2 objects healthy',
        '',
      ].join('\n'),
    );
  });

  test('one kind goes without the kind in names, and -o wide has more columns', async (t) => {
    const namespace = await platform(t);
    const { stdout } = await espalier(['get', 'plg', 'web', '-n', namespace, '-o', 'wide']);
    const [header, row, ...rest] = stdout.trimEnd().split('\n');
    assert.match(header ?? '', /^NAME +VERSION +READY +DRIFT +CLASS +AGE +PHASE +KIND +COMMIT +SYNC +WHY$/);
    assert.match(row ?? '', /^web .* False +system +\d+s +Ready +manifests +7a2ad27f44 +platform +2 objects healthy$/);
    assert.deepEqual(rest, []);
  });

  test('a Sync whose forge can not be told says so; -o wide has what the newest commit was told', async (t) => {
    const namespace = await testNamespace(t);
    const { conditions: known, ...standing } = ready('1 plugin ready at 7a2ad27f44');
    const message = 'git.example.com does not accept the login';
    const unanswered = conditions({ Unanswered: 'True' }).map((one) => ({
      ...one,
      reason: 'ForgeAuthFailed',
      message,
    }));
    const status = (context: string, state: 'success' | 'failure', sent = true) => ({
      ...{ context, state, sent },
      description: 'as the test wants it',
    });
    await createSync({
      namespace,
      name: 'platform',
      status: {
        ...standing,
        conditions: [...known, ...unanswered],
        answers: [
          {
            commit: COMMIT,
            plugins: [],
            statuses: [
              status('espalier/prod', 'success'),
              status('espalier/prod/drift', 'failure'),
              status('espalier/prod/plan', 'success', false),
              status('espalier/prod/plugin/web', 'success'),
            ],
          },
        ],
      },
    });
    const wide = await espalier(['get', 'syncs', '-n', namespace, '-o', 'wide']);
    assert.match(wide.stdout, /^NAME .* REF +STATUSES +URL +WHY\n/);
    assert.match(wide.stdout, / espalier\/prod: success, espalier\/prod\/drift: failure +https:/);
    const why = `1 plugin ready at 7a2ad27f44; its forge can't be told: ${message}\n`;
    assert.ok(wide.stdout.endsWith(why), wide.stdout);
    assert.ok((await espalier(['tree', 'platform', '-n', namespace])).stdout.includes(why));
  });

  test('one by name is that object as JSON or YAML, several are a List, without managed fields', async (t) => {
    const namespace = await platform(t);
    const [one, list, yaml] = await Promise.all([
      espalier(['get', 'sync/platform', '-n', namespace, '-o', 'json']),
      espalier(['get', 'plugins', '-n', namespace, '-o', 'json']),
      espalier(['get', 'sync', 'platform', '-n', namespace, '-o', 'yaml']),
    ]);
    const sync = JSON.parse(one.stdout);
    assert.equal(sync.kind, 'Sync');
    assert.equal(sync.metadata.managedFields, undefined);
    assert.deepEqual(parse(yaml.stdout), sync);
    const { kind, items } = JSON.parse(list.stdout);
    assert.deepEqual([kind, items.length], ['List', 3]);
  });

  test('-l narrows, -A goes through all namespaces, -o name can be piped back', async (t) => {
    const namespace = await platform(t);
    const team = uniqueName('team');
    await createPlugin({ namespace, name: 'ingress', labels: { team } });
    const everywhere = await espalier(['get', 'plugins', '-A', '-l', `team=${team}`]);
    assert.match(everywhere.stdout, new RegExp(`^NAMESPACE .*\\n${namespace} +ingress `));
    const names = await espalier(['get', 'plugins', '-l', `team=${team}`, '-n', namespace, '-o', 'name']);
    assert.equal(names.stdout, 'plugin.espalier.dev/ingress\n');
    const again = await espalier(['get', names.stdout.trim(), '-n', namespace, '-o', 'name']);
    assert.equal(again.stdout, names.stdout);
  });

  test('nothing there is no error, and says where there is some', async (t) => {
    const namespace = await testNamespace(t);
    const team = uniqueName('team');
    await createPlugin({ namespace: await testNamespace(t), name: 'ingress', labels: { team } });
    const { code, stdout, stderr } = await espalier(['get', 'plugins', '-n', namespace, '-l', `team=${team}`]);
    assert.deepEqual([code, stdout], [0, '']);
    assert.match(
      stderr,
      /^No Plugins with -l .* in namespace ".*"; there are 1 in test-\w+: add -n test-\w+, or -A\.\n$/,
    );
    const json = await espalier(['get', 'syncs', '-n', namespace, '-o', 'json']);
    assert.deepEqual(JSON.parse(json.stdout).items, []);
  });

  test('a name that does not exist is an error that lists those that do, after what was found', async (t) => {
    const namespace = await platform(t);
    const { code, stdout, stderr } = await espalier(['get', 'plugins', 'web', 'wbe', '-n', namespace]);
    assert.equal(code, 2);
    assert.match(stdout, /^web /m);
    assert.equal(stderr, `espalier: no Plugin "wbe" in namespace "${namespace}"; there are: dns, late, web\n`);
  });

  test('a name in another namespace is an error that says which', async (t) => {
    const [namespace, other] = await Promise.all([testNamespace(t), testNamespace(t)]);
    const name = uniqueName('sync');
    await createSync({ namespace: other, name });
    const { code, stderr } = await espalier(['get', `sync/${name}`, '-n', namespace]);
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`there is one in ${other}: add -n ${other}`));
  });

  test('-w prints a row for each change that the table would show, and one for a deletion', async (t) => {
    const namespace = await testNamespace(t);
    const web = await createPlugin({ namespace, name: 'web', status: { phase: 'Pending', message: 'wait' } });
    const { output } = startEspalier(t, ['get', 'plugins', '-n', namespace, '-w']);
    const why = () => output.stdout.split('\n').map((line) => line.split(/ {3,}/).at(-1));
    await eventually(() => assert.deepEqual(why(), ['WHY', 'wait', '']), { timeoutMs: 20_000 });
    await setStatus(web, { attempted: { failures: 1 } });
    await setStatus(web, ready('2 objects healthy'));
    await eventually(() => assert.deepEqual(why(), ['WHY', 'wait', '2 objects healthy', '']));
    await testClient().delete(refOf(web));
    await eventually(() => assert.deepEqual(why(), ['WHY', 'wait', '2 objects healthy', 'deleted', '']));
  });

  test('-w of all kinds as documents prints each change whole', async (t) => {
    const namespace = await platform(t);
    const { output } = startEspalier(t, ['get', 'all', '-n', namespace, '-w', '-o', 'name']);
    const first = [
      'sync.espalier.dev/platform',
      ...['dns', 'late', 'web'].map((name) => `plugin.espalier.dev/${name}`),
    ];
    await eventually(() => assert.deepEqual(output.stdout.trimEnd().split('\n'), first), { timeoutMs: 20_000 });
    await setStatus(
      { apiVersion: API_VERSION, kind: 'Plugin', metadata: { namespace, name: 'dns' } },
      { message: 'x' },
    );
    const then = [...first, 'plugin.espalier.dev/dns'];
    await eventually(() => assert.deepEqual(output.stdout.trimEnd().split('\n'), then));
  });
});

async function platform(t: Parameters<typeof testNamespace>[0]): Promise<string> {
  const namespace = await testNamespace(t);
  const plugins = { total: 2, ready: 1, waiting: 1, failed: 0, held: 0 };
  await Promise.all([
    createSync({
      namespace,
      name: 'platform',
      status: { ...ready('1 plugin ready at 7a2ad27f44'), commit: COMMIT, plugins },
    }),
    createPlugin({
      namespace,
      name: 'web',
      sync: 'platform',
      labels: { [LABEL.class]: 'system' },
      status: { ...ready('2 objects healthy'), revision: { commit: COMMIT, version: '7a2ad27f44' } },
    }),
    createPlugin({
      namespace,
      name: 'late',
      sync: 'platform',
      status: {
        phase: 'Waiting',
        message: 'waiting for web: not applied yet',
        conditions: conditions({ Ready: 'False', Drifted: 'True' }),
      },
    }),
    createPlugin({ namespace, name: 'dns' }),
  ]);
  return namespace;
}

function withoutAges(text: string): string {
  return text.replace(/\d+s +/g, '#s    ');
}
