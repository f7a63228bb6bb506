import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../api/index.ts';
import { LABEL, refKey, refOf } from '../api/index.ts';
import { Departed } from './departed.ts';
import { OwnedIndex } from './owned.ts';

function owned(uid: string, resourceVersion: string): KubeObject {
  const labels = { [LABEL.plugin]: 'demo', [LABEL.pluginNamespace]: 'apps' };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'one', namespace: 'apps', uid, resourceVersion, labels },
  };
}

function index(): { index: OwnedIndex; changes: string[] } {
  const changes: string[] = [];
  const options = {
    healthOf: () => ({ state: 'healthy', message: '' }) as const,
    rulesFor: () => '',
    onChange: (plugin: string, _key: string, change: string) => void changes.push(`${plugin} ${change}`),
  };
  return { index: new OwnedIndex(options), changes };
}

const KEY = refKey(refOf(owned('', '')));

test('an answer that arrives after the news that its object is gone does not bring it back, and its Plugin is told', () => {
  const { index: objects, changes } = index();
  objects.beginWrite(KEY);
  objects.onEvent('added', owned('a', '5'));
  objects.onEvent('deleted', owned('a', '6'));
  changes.length = 0;
  objects.written(owned('a', '5'));
  assert.equal(objects.get(KEY), undefined);
  assert.deepEqual(changes, ['apps/demo gone']);
});

test('an answer about the object of before does not take the place of the one that was made since', () => {
  const { index: objects } = index();
  objects.beginWrite(KEY);
  objects.onEvent('added', owned('a', '5'));
  objects.onEvent('deleted', owned('a', '6'));
  objects.onEvent('added', owned('b', '7'));
  objects.written(owned('a', '5'));
  assert.equal(objects.get(KEY)?.uid, 'b');
});

test('what lost our labels and got them back is there again', () => {
  const { index: objects } = index();
  objects.onEvent('added', owned('a', '5'));
  objects.onEvent('deleted', owned('a', '6'));
  objects.beginWrite(KEY);
  objects.written(owned('a', '10'));
  assert.equal(objects.get(KEY)?.uid, 'a');
});

test('remembers the newest of many, within bounds', () => {
  const departed = new Departed();
  for (let at = 0; at < 20_000; at++) departed.add(`uid-${at}`);
  assert.equal(departed.has('uid-19999'), true);
  assert.equal(departed.has('uid-0'), false);
  departed.add(undefined);
  assert.equal(departed.has(undefined), false);
});
