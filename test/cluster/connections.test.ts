import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { test } from 'node:test';
import { testClient, testNamespace } from '../support/cluster.ts';

test('requests of every kind leave their connection to the next one', async (t) => {
  const namespace = await testNamespace(t);
  const client = testClient();
  const ref = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, namespace });
  await client.get(ref('none'));
  let opened = 0;
  subscribe('undici:client:connected', () => {
    opened += 1;
  });
  for (const name of ['a', 'b', 'c']) {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } };
    const { metadata } = await client.apply(object, { fieldManager: 'test' });
    await client.patch(ref(name), { data: { a: 'b' } }, { type: 'merge', fieldManager: 'test' });
    await client.get(ref(name));
    await client.delete(ref(name), metadata.uid === undefined ? {} : { uid: metadata.uid });
    await client.delete(ref(name));
  }
  assert.equal(opened, 0, 'connections were opened one after the other');
});
