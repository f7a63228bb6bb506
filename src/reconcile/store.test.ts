import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_VERSION, type ExtensionInstance, type KubeObject } from '../api/index.ts';
import { Store } from './store.ts';

function instance(uid: string, resourceVersion: string): KubeObject {
  const metadata = { name: 'one', namespace: 'apps', uid, resourceVersion };
  return { apiVersion: API_VERSION, kind: 'ExtensionInstance', metadata, spec: { extension: 'demo' } };
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
