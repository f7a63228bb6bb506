import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_VERSION, type ExtensionInstance, type JsonObject, type KubeObject, SYNC_MANAGER } from '../api/index.ts';
import { hashFields } from '../plan/fields.ts';
import { Store } from './store.ts';

function instance(uid: string, resourceVersion: string): KubeObject {
  const metadata = { name: 'one', namespace: 'apps', uid, resourceVersion };
  return { apiVersion: API_VERSION, kind: 'ExtensionInstance', metadata, spec: { extension: 'demo' } };
}

function writtenWith(uid: string, resourceVersion: string, fieldsV1: JsonObject): KubeObject {
  const object = instance(uid, resourceVersion);
  const entry = { manager: SYNC_MANAGER, operation: 'Apply', apiVersion: API_VERSION, fieldsV1 } as const;
  return { ...object, metadata: { ...object.metadata, managedFields: [entry] } };
}

function store(): Store<ExtensionInstance> {
  return new Store<ExtensionInstance>('ExtensionInstance', () => undefined);
}

test('an answer that arrives after the news that its object is gone does not bring it back', () => {
  const instances = store();
  instances.put(instance('a', '5'));
  instances.remove(instance('a', '7'));
  instances.put(instance('a', '6'));
  assert.equal(instances.get('apps/one'), undefined);
});

test('an answer about the object of before does not take the place of the one that was made since', () => {
  const instances = store();
  instances.put(instance('a', '5'));
  instances.put(instance('b', '8'));
  instances.put(instance('a', '6'));
  assert.equal(instances.get('apps/one')?.metadata.uid, 'b');
});

test('the fields of an answer are its own, whatever the store holds by then', () => {
  const instances = store();
  const [old, young] = [{ 'f:spec': { 'f:old': {} } }, { 'f:spec': { 'f:young': {} } }];
  instances.put(writtenWith('a', '6', young));
  assert.equal(instances.fields('apps/one'), hashFields(young));
  assert.equal(instances.fieldsIn(writtenWith('a', '6', young)), hashFields(young));
  assert.equal(instances.fieldsIn(writtenWith('a', '5', old)), hashFields(old));
  assert.equal(instances.fieldsIn(writtenWith('b', '6', old)), hashFields(old));
  instances.remove(instance('a', '7'));
  assert.equal(instances.fieldsIn(writtenWith('a', '6', young)), hashFields(young));
});
