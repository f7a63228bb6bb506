import assert from 'node:assert/strict';
import { test } from 'node:test';
import { edit } from '../../test/api/edit.ts';
import { COMMIT_SYNC, OCI_PLUGIN, SAMPLES } from '../../test/api/samples.ts';
import { applyDefaults, withDefaults } from './defaults.ts';
import { isError } from './errors.ts';
import type { KubeObject } from './objects.ts';
import { readAs } from './read.ts';

test('fills in defaults from the outside in', () => {
  const { spec } = readAs(COMMIT_SYNC, 'Sync');
  assert.equal(spec.repository.path, '.');
  assert.deepEqual(spec.prune, { enabled: true, hold: { percent: 50, count: 20 } });
  assert.deepEqual(spec.cluster, { labels: {} });
  assert.equal(spec.values, undefined);
});

test('keeps what is there', () => {
  const plugin = readAs(edit(OCI_PLUGIN, '/spec/drift', { mode: 'report' }), 'Plugin');
  assert.equal(plugin.spec.drift.mode, 'report');
});

test('takes null for absent, except in free-form parts', () => {
  const values = { replicas: null };
  const plugin = readAs(edit(edit(OCI_PLUGIN, '/spec/timeout', null), '/spec/values', values), 'Plugin');
  assert.equal(plugin.spec.timeout, '5m');
  assert.equal(plugin.spec.values, values);
});

test('changes neither the object nor the defaults, and adds nothing the second time', () => {
  for (const sample of SAMPLES) {
    const before = structuredClone(sample);
    const once = applyDefaults(sample);
    assert.deepEqual(sample, before);
    assert.deepEqual(applyDefaults(once), once);
  }
  const plugin = readAs(OCI_PLUGIN, 'Plugin');
  plugin.spec.drift.mode = 'ignore';
  assert.equal(readAs(OCI_PLUGIN, 'Plugin').spec.drift.mode, 'repair');
});

test('what lacks nothing comes back as it is, however deep it goes', () => {
  const { spec } = readAs(COMMIT_SYNC, 'Sync');
  const again = readAs({ ...COMMIT_SYNC, spec }, 'Sync').spec;
  assert.equal(again, spec);
  const plugin = readAs(OCI_PLUGIN, 'Plugin');
  const lacking = { ...plugin, spec: { ...plugin.spec, timeout: null } };
  const filled = readAs(lacking as unknown as KubeObject, 'Plugin').spec;
  assert.equal(filled.timeout, '5m');
  assert.equal(filled.source, plugin.spec.source);
});

test('a null goes where there is no default, and where there is one it makes room for it', () => {
  const { spec } = readAs(edit(OCI_PLUGIN, '/spec/drift', { mode: null, ignore: null }), 'Plugin');
  assert.deepEqual(spec.drift, { mode: 'repair' });
  const schema = { type: 'object', additionalProperties: { type: 'string' } } as const;
  assert.deepEqual(withDefaults(schema, { a: null, b: 'x' }), { b: 'x' });
  const list = {
    type: 'array',
    items: { type: 'object', properties: { a: { type: 'string', default: 'x' } } },
  } as const;
  assert.deepEqual(withDefaults(list, [null, { a: 'y' }, { a: null }, {}]), [null, { a: 'y' }, { a: 'x' }, { a: 'x' }]);
});

test('leaves other kinds as they are', () => {
  const object = { apiVersion: 'v1', kind: 'Plugin', metadata: { name: 'x' }, spec: {} };
  assert.equal(applyDefaults(object), object);
  assert.throws(
    () => readAs(object, 'Plugin'),
    (error) => isError(error, 'InvalidDeclaration'),
  );
});

test('a field named __proto__ stays a field', () => {
  const hostile = JSON.parse('{"__proto__": {"mode": "ignore"}}');
  const spec = applyDefaults(edit(OCI_PLUGIN, '/spec/drift', hostile)).spec as { drift: { mode: string } };
  assert.equal(spec.drift.mode, 'repair');
  assert.deepEqual(Object.keys(spec.drift).toSorted(), ['__proto__', 'mode']);
});
