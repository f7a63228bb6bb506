import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  API_VERSION,
  type Condition,
  customResourceDefinition,
  KINDS,
  type KubeObject,
  objectSchema,
  readAs,
  type Schema,
} from '../../src/api/index.ts';
import { kubectl, testClient, testNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { uniqueName } from '../support/names.ts';
import { installKinds } from './install.ts';
import { OCI_PLUGIN, SYNC } from './samples.ts';

const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const NOW = '2026-01-01T00:00:00Z';

before(() => installKinds(testClient()));

function condition(type: string, status: Condition['status'], message: string): Condition {
  return { type, status, reason: 'Test', message, lastTransitionTime: NOW };
}

/** A stored object of a fresh name, with this status. */
async function stored(namespace: string, sample: KubeObject, status: object): Promise<KubeObject> {
  const client = testClient();
  const object = { ...sample, metadata: { name: uniqueName(sample.kind.toLowerCase()), namespace } };
  await client.create(object);
  const { apiVersion, kind, metadata } = object;
  return client.apply(
    { apiVersion, kind, metadata, status },
    { fieldManager: 'espalier-controller', subresource: 'status' },
  );
}

/** Cells of a kubectl table by column, for the first row. */
function firstRow(table: string): Record<string, string> {
  const [head = '', row = ''] = table.split('\n');
  const columns = [...head.matchAll(/\S+\s*/g)];
  return Object.fromEntries(
    columns.map((column, index) => {
      const end = columns[index + 1]?.index ?? row.length;
      return [column[0].trim(), row.slice(column.index, end).trim()];
    }),
  );
}

test('kubectl get plugins shows version, ready, drift, class, age and why', async (t) => {
  const namespace = await testNamespace(t);
  const plugin = await stored(namespace, OCI_PLUGIN, {
    message: 'waits for Plugin prometheus-crds',
    revision: { version: '1.18.2' },
    conditions: [condition('Ready', 'False', 'x'), condition('Drifted', 'True', 'x')],
  });
  const row = firstRow(await kubectl('get', 'plugins', '-n', namespace));
  assert.deepEqual(Object.keys(row), ['NAME', 'VERSION', 'READY', 'DRIFT', 'CLASS', 'AGE', 'WHY']);
  assert.match(row.AGE ?? '', /^\d+s$/);
  const { NAME, VERSION, READY, DRIFT, WHY } = row;
  const expected = [plugin.metadata.name, '1.18.2', 'False', 'True', 'waits for Plugin prometheus-crds'];
  assert.deepEqual([NAME, VERSION, READY, DRIFT, WHY], expected);
});

test('kubectl get syncs shows ready, commit, how many plugins are up, age and why', async (t) => {
  const namespace = await testNamespace(t);
  await stored(namespace, SYNC, {
    message: 'all Plugins are ready',
    commit: COMMIT,
    plugins: { total: 7, ready: 5, waiting: 2, failed: 0, held: 0 },
    conditions: [condition('Ready', 'True', 'x')],
  });
  const row = firstRow(await kubectl('get', 'syn', '-n', namespace));
  assert.deepEqual(Object.keys(row), ['NAME', 'READY', 'COMMIT', 'UP', 'PLUGINS', 'AGE', 'WHY']);
  assert.deepEqual([row.READY, row.COMMIT, row.UP, row.PLUGINS], ['True', COMMIT, '5', '7']);
});

test('kubectl get espalier shows all kinds of a namespace', async (t) => {
  const namespace = await testNamespace(t);
  await stored(namespace, SYNC, {});
  await stored(namespace, OCI_PLUGIN, {});
  const names = await kubectl('get', 'espalier', '-n', namespace, '-o', 'name');
  assert.match(names, /^sync\.espalier\.dev\//m);
  assert.match(names, /^plugin\.espalier\.dev\//m);
});

test('kubectl wait --for=condition=Ready ends when the condition is true', async (t) => {
  const namespace = await testNamespace(t);
  const plugin = await stored(namespace, OCI_PLUGIN, { conditions: [condition('Ready', 'True', 'x')] });
  await kubectl('wait', '-n', namespace, '--for=condition=Ready', `plg/${plugin.metadata.name}`, '--timeout=10s');
});

test('a status in a declaration is dropped, and a change of status is no new generation', async (t) => {
  const namespace = await testNamespace(t);
  const name = uniqueName('plugin');
  const declared = { ...OCI_PLUGIN, metadata: { name, namespace }, status: { phase: 'Ready' } };
  const created = await testClient().create(declared);
  assert.equal(created.status, undefined);
  const object = await stored(namespace, OCI_PLUGIN, { phase: 'Ready' });
  assert.equal(object.metadata.generation, 1);
});

test('conditions of two writers are merged by type', async (t) => {
  const namespace = await testNamespace(t);
  const { apiVersion, kind, metadata } = await stored(namespace, SYNC, {
    conditions: [condition('Ready', 'True', 'x')],
  });
  const { name } = metadata;
  const status = { conditions: [condition('Example', 'True', 'from somebody else')] };
  const other = { apiVersion, kind, metadata: { name, namespace }, status };
  const merged = await testClient().apply(other, { fieldManager: 'somebody-else', subresource: 'status' });
  const { conditions } = merged.status as { conditions: Condition[] };
  assert.deepEqual(conditions.map(({ type }) => type).toSorted(), ['Example', 'Ready']);
});

test('an inventory as earlier versions stored it, object by object, is kept and read', async (t) => {
  const namespace = await testNamespace(t);
  const inventory = [{ apiVersion: API_VERSION, kind: 'Plugin', namespace, name: 'web', uid: 'u1', fields: 'hash' }];
  for (const sample of [SYNC, OCI_PLUGIN]) {
    const { metadata } = await stored(namespace, sample, { phase: 'Ready', inventory });
    const object = await testClient().get({
      apiVersion: API_VERSION,
      kind: sample.kind,
      namespace,
      name: metadata.name,
    });
    assert.ok(object);
    assert.deepEqual(readAs(object, sample.kind as 'Sync' | 'Plugin').status?.inventory, inventory);
  }
});

test('the status of a Plugin has one writer: who applies to it is told whose it is, and changes nothing', async (t) => {
  const namespace = await testNamespace(t);
  const { apiVersion, kind, metadata } = await stored(namespace, OCI_PLUGIN, { phase: 'Ready' });
  const { name } = metadata;
  const other = { apiVersion, kind, metadata: { name, namespace }, status: { message: 'from somebody else' } };
  await assert.rejects(
    testClient().apply(other, { fieldManager: 'somebody-else', subresource: 'status' }),
    /conflict with "espalier-controller".*[\s\S]*\.status/,
  );
});

describe('kubectl explain', () => {
  test('answers with the description of a field', async () => {
    await eventually(async () => {
      const text = await kubectl('explain', 'plugins.spec.drift.mode', `--api-version=${API_VERSION}`);
      assert.match(text, /repair: put changed fields back at once/);
    });
  });

  for (const definition of KINDS) {
    test(`has a text for every field of ${definition.kind}`, async () => {
      await eventually(async () => {
        const published = await publishedSchema(definition.kind);
        assert.deepEqual(undescribed(objectSchema(definition), published, definition.kind), []);
      });
    });
  }
});

/** What the API server tells clients about a kind; kubectl explain prints it. */
async function publishedSchema(kind: string): Promise<Schema> {
  const answer = await testClient().raw({ method: 'GET', path: `/openapi/v3/apis/${API_VERSION}` });
  const document = JSON.parse(answer.body) as { components: { schemas: Record<string, Schema> } };
  const schema = document.components.schemas[`dev.espalier.v1alpha1.${kind}`];
  if (schema === undefined) throw new Error(`the API server does not publish ${kind} yet`);
  return schema;
}

/** Fields of ours whose description the server does not give as we wrote it. What it stores unchecked is told in one text. */
function undescribed(ours: Schema, published: Schema | undefined, path: string): string[] {
  const inOneText = published?.items?.['x-kubernetes-preserve-unknown-fields'] ? ours.items : ours;
  const isOpen = inOneText !== ours || published?.['x-kubernetes-preserve-unknown-fields'];
  if (isOpen && inOneText?.properties !== undefined) {
    const texts = [ours.description ?? '', ...Object.keys(inOneText.properties)];
    return texts.filter((text) => !published?.description?.includes(text)).map((text) => `${path}: ${text}`);
  }
  const mute = ours.description !== undefined && published?.description !== ours.description ? [path] : [];
  const fields = Object.entries(ours.properties ?? {});
  const below = fields.flatMap(([name, field]) => undescribed(field, published?.properties?.[name], `${path}.${name}`));
  const items = ours.items === undefined ? [] : undescribed(ours.items, published?.items, `${path}[]`);
  return [...mute, ...below, ...items];
}

test('the names that people type belong to us alone', async () => {
  // Other tests install kinds of KubeGems, whose Plugins have the same name.
  const isOthers = (version: string): boolean => version !== API_VERSION && !version.includes('kubegems.io/');
  const resources = (await testClient().resources()).filter(({ apiVersion }) => isOthers(apiVersion));
  const taken = new Set(resources.flatMap(({ plural, shortNames }) => [plural, ...shortNames]));
  const names = KINDS.map(customResourceDefinition).map(({ spec }) => spec.names);
  assert.deepEqual(
    names
      .flatMap(({ plural, singular, shortNames }) => [plural, singular, ...shortNames])
      .filter((name) => taken.has(name)),
    [],
  );
});
