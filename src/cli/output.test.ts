import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { KubeObject } from '../api/index.ts';
import { formatData, formatObjects, nameOf } from './output.ts';

const PLUGIN: KubeObject = {
  apiVersion: 'espalier.dev/v1alpha1',
  kind: 'Plugin',
  metadata: { name: 'web', namespace: 'prod', managedFields: [{ manager: 'kubectl' }] },
  spec: { values: { flag: 'on', time: '1:30', empty: '', list: [{ a: 1 }] } },
};
const { managedFields: _, ...metadata } = PLUGIN.metadata;

test('one object that was asked for by name stands alone, anything else is a List', async () => {
  assert.deepEqual(JSON.parse(await formatObjects([PLUGIN], 'json', { single: true })), { ...PLUGIN, metadata });
  const list = JSON.parse(await formatObjects([PLUGIN], 'json', { single: false }));
  assert.deepEqual(list, {
    apiVersion: 'v1',
    kind: 'List',
    items: [{ ...PLUGIN, metadata }],
    metadata: { resourceVersion: '' },
  });
  assert.deepEqual(JSON.parse(await formatObjects([], 'json', { single: true })).items, []);
});

test('YAML holds what JSON does, and text that older readers take for something else is quoted', async () => {
  const text = await formatObjects([PLUGIN], 'yaml', { single: true });
  assert.deepEqual(parse(text), { ...PLUGIN, metadata });
  assert.match(text, /flag: "on"/);
  assert.match(text, /time: "?1:30"?/);
  assert.equal(text.endsWith('\n'), false);
});

test('long text stays on one line, and what is said twice is written twice', async () => {
  const shared = { a: 1 };
  const text = await formatData({ long: 'word '.repeat(60).trim(), one: shared, two: shared }, 'yaml');
  assert.equal(text.split('\n').length, 5);
  assert.doesNotMatch(text, /[&*]a/);
});

test('names carry the group, as kubectl writes and reads them', () => {
  assert.equal(nameOf(PLUGIN), 'plugin.espalier.dev/web');
  assert.equal(nameOf({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } }), 'secret/x');
});
