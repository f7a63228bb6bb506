import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stringify } from 'yaml';
import { type JsonObject, validateObject } from '../../api/index.ts';
import type { Release } from '../../release/record.ts';
import { type FoundRelease, fromHelm, type HelmWorld, makerOf } from './helm.ts';
import { importPage } from './page.ts';
import { secretPaths, splitValues } from './secret-values.ts';

describe('releases of Helm become Plugins:', () => {
  test('of the repository that has the chart, with the values that people gave', () => {
    const { plugins, left, files } = imported([found('web', { replicas: 2, host: null })], {
      published: () => ({ chart: { repository: 'https://charts.example.com', name: 'web', version: '1.0.0' } }),
    });
    assert.deepEqual([left, [...files]], [[], []]);
    assert.deepEqual(plugins[0]?.metadata, { name: 'web', namespace: 'apps' });
    assert.deepEqual(plugins[0]?.spec, {
      kind: 'helm',
      source: { chart: { repository: 'https://charts.example.com', name: 'web', version: '1.0.0' } },
      values: { replicas: 2, host: null },
      apply: { adopt: true },
    });
  });

  test('or else of the chart out of its record, once for all releases of it', () => {
    const { plugins, files, left } = imported([found('a', {}), found('b', {}), found('c', {}, { templates: [] })]);
    assert.deepEqual(
      plugins.map(({ spec }) => spec.source),
      [
        { git: { path: 'charts/web-1.0.0' } },
        { git: { path: 'charts/web-1.0.0' } },
        { git: { path: 'charts/web-1.0.0.2' } },
      ],
    );
    assert.deepEqual(
      [...files.keys()].filter((path) => path.startsWith('charts/web-1.0.0/')),
      [
        'charts/web-1.0.0/Chart.yaml',
        'charts/web-1.0.0/values.yaml',
        'charts/web-1.0.0/values.schema.json',
        'charts/web-1.0.0/templates/a.yaml',
        'charts/web-1.0.0/crds/x.yaml',
      ],
    );
    assert.equal(String(files.get('charts/web-1.0.0/templates/a.yaml')), 'kind: {{ .Values.kind }}\n');
    assert.equal(left.length, 3);
  });

  test('but for those that somebody else makes, is making, or that nobody can read', () => {
    const { plugins, left } = imported([
      { ...found('ours', {}), labels: { 'espalier.dev/owner': 'ours', 'espalier.dev/owner-namespace': 'apps' } },
      { ...found('flux', {}), owner: 'HelmRelease apps/flux' },
      { ...found('busy', {}), newest: { revision: 2, status: 'pending-upgrade' } },
      { ...found('gone', {}), deployed: undefined, newest: { revision: 1, status: 'uninstalled' } },
      { ...found('failed', {}), deployed: undefined, newest: { revision: 1, status: 'failed' } },
      { ...found('broken', {}), deployed: undefined, unreadable: 'sh.helm.release.v1.broken.v1 is no record' },
      found('hostile', {}, { templates: [{ name: '../../out', data: '' }] }),
      found('made-of-others', {}, { metadata: { name: 'web', version: '1.0.0', dependencies: [{ name: 'db' }] } }),
    ]);
    assert.deepEqual(plugins, []);
    assert.deepEqual(
      left.map(({ object, why }) => `${object.split('/')[1]}: ${why}`),
      [
        'ours: it is the release of Plugin apps/ours already',
        'flux: HelmRelease apps/flux makes it: import that (espalier import flux)',
        'busy: revision 2 is pending-upgrade: somebody is at work on it, or was stopped while at it',
        'gone: it is uninstalled, and only its history is kept',
        'failed: none of its revisions is deployed; the newest is failed',
        'broken: sh.helm.release.v1.broken.v1 is no record',
        'hostile: revision 1 of release hostile: its chart has a file called "../../out"',
        'made-of-others: web-1.0.0 is made of other charts, which a record does not hold, and nobody knows; name the repository that it came from with --repository',
      ],
    );
  });

  test('values that look like secrets are named, and stand apart when that is asked for', () => {
    const values = { auth: { user: 'u', password: 'p4ss' }, users: [{ token: 't' }], url: 'postgres://u:pw@db/x' };
    const plain = imported([found('web', values)]);
    assert.match(plain.left[1]?.why ?? '', /^auth.password, users, url look like secrets and stand in the file/);
    const apart = imported([found('web', values)], { valuesToSecret: true });
    assert.deepEqual(apart.plugins[0]?.spec.values, { auth: { user: 'u' } });
    assert.deepEqual(apart.plugins[0]?.spec.valuesFrom, [{ kind: 'Secret', name: 'web-values', key: 'values.yaml' }]);
    assert.equal(
      apart.files.get('secrets/apps/web-values.yaml'),
      stringify({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'web-values', namespace: 'apps' },
        stringData: {
          'values.yaml': stringify({
            auth: { password: 'p4ss' },
            users: [{ token: 't' }],
            url: 'postgres://u:pw@db/x',
          }),
        },
      }),
    );
  });

  test('names and switches are no secrets', () => {
    const harmless = {
      existingSecret: 'a',
      passwordSecretName: 'b',
      tokenPath: '/x',
      secretKey: '',
      password: '',
      createToken: 'yes',
    };
    assert.deepEqual(secretPaths(harmless), []);
    assert.deepEqual(secretPaths({ apiKey: 'k', adminPassword: 'p', tls: { key: '-----BEGIN KEY' } }), [
      ['apiKey'],
      ['adminPassword'],
      ['tls', 'key'],
    ]);
    assert.deepEqual(splitValues({ a: { b: 1, c: 2 }, d: 3 }, [['a', 'b']]), {
      secret: { a: { b: 1 } },
      rest: { a: { c: 2 }, d: 3 },
    });
  });

  test('the labels of helm-controller tell whose a release is', () => {
    const labels = '    helm.toolkit.fluxcd.io/name: web\n    helm.toolkit.fluxcd.io/namespace: "apps"\n';
    assert.equal(
      makerOf({ ...record('web', {}), manifest: `metadata:\n  labels:\n${labels}` }),
      'HelmRelease apps/web',
    );
    assert.equal(makerOf(record('web', {})), undefined);
  });

  test('the page says what is here, what is missing and what comes next', () => {
    const result = imported([found('web', {})]);
    result.left.push({ object: 'release apps/x', field: 'values', why: 'two\nlines | and more' });
    const page = importPage('helm', result, undefined);
    assert.equal(page.slice(0, page.indexOf('## What to do next')), PAGE);
  });
});

const PAGE = `# Imported from Helm

Written by \`espalier import\`. Nothing in the cluster was changed. Delete this page when you are through with it.

| Plugin | kind | it was |
|---|---|---|
| apps/web | helm | release apps/web |

## What could not be carried over

- **release apps/web**
  - \`chart\`: web-1.0.0 is in none of the repositories that were named (--repository): it was written to charts/web-1.0.0, out of the record
- **release apps/x**
  - \`values\`: two lines | and more

`;

function imported(releases: FoundRelease[], world: Partial<HelmWorld> = {}) {
  const result = fromHelm(releases, {
    printYaml: (value) => stringify(value),
    published: () => undefined,
    lockFor: () => ({ why: 'nobody knows' }),
    valuesToSecret: false,
    ...world,
  });
  for (const plugin of result.plugins) assert.deepEqual(validateObject(plugin), []);
  return result;
}

function found(name: string, config: JsonObject, chart: JsonObject = {}): FoundRelease {
  const deployed = record(name, config, chart);
  return { name, namespace: 'apps', deployed, newest: { revision: 1, status: 'deployed' }, labels: {} };
}

function record(name: string, config: JsonObject, chart: JsonObject = {}): Release {
  const encoded = (text: string): string => Buffer.from(text).toString('base64');
  return {
    ...{ name, namespace: 'apps', version: 1, info: { status: 'deployed' }, manifest: '', config },
    chart: {
      metadata: { name: 'web', version: '1.0.0', apiVersion: 'v2' },
      values: { kind: 'ConfigMap' },
      schema: encoded('{}'),
      templates: [{ name: 'templates/a.yaml', data: encoded('kind: {{ .Values.kind }}\n') }],
      files: [{ name: 'crds/x.yaml', data: '' }],
      ...chart,
    },
  };
}
