import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../api/index.ts';
import { createKnownObjects, type KnownObjects } from './known.ts';

function start(): { known: KnownObjects; told: string[] } {
  const told: string[] = [];
  const known = createKnownObjects({ apiVersion: 'v1', kind: 'ConfigMap' }, (type, { metadata }) => {
    told.push(`${type} ${metadata.namespace}/${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`);
  });
  return { known, told };
}

function object(name: string, uid: string, resourceVersion: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'web', uid, resourceVersion } };
}

test('a list tells what is new, what changed and what is gone', () => {
  const { known, told } = start();
  const first = known.begin();
  for (const each of [object('a', 'u1', '1'), object('b', 'u2', '2'), object('c', 'u3', '3')]) first.see(each);
  first.end();
  told.length = 0;
  const second = known.begin();
  for (const each of [object('a', 'u1', '1'), object('b', 'u2', '9')]) second.see(each);
  second.end();
  assert.deepEqual(told, ['modified web/b u2 9', 'deleted web/c u3 3']);
  assert.deepEqual([...known.keys()], ['web/a', 'web/b']);
});

test('a list that began anew forgets the pages before', () => {
  const { known, told } = start();
  const first = known.begin();
  first.see(object('a', 'u1', '1'));
  first.end();
  told.length = 0;
  const second = known.begin();
  second.see(object('a', 'u1', '1'));
  second.restart();
  second.end();
  assert.deepEqual(told, ['deleted web/a u1 1']);
});

test('an object that was replaced by one of the same name is deleted and added', () => {
  const { known, told } = start();
  known.change('ADDED', object('a', 'u1', '1'));
  known.change('MODIFIED', object('a', 'u2', '5'));
  assert.deepEqual(told, ['added web/a u1 1', 'deleted web/a u1 1', 'added web/a u2 5']);
});

test('an event that is known already is not told again', () => {
  const { known, told } = start();
  known.change('ADDED', object('a', 'u1', '1'));
  known.change('ADDED', object('a', 'u1', '1'));
  known.change('DELETED', object('a', 'u1', '2'));
  known.change('DELETED', object('a', 'u1', '2'));
  assert.deepEqual(told, ['added web/a u1 1', 'deleted web/a u1 2']);
});
