import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EspalierError, type Json, type KubeObject, type ObjectRef } from '../api/index.ts';
import { writeStatus } from './write-status.ts';

const OWNER = { apiVersion: 'espalier.dev/v1alpha1', kind: 'Plugin', namespace: 'ns', name: 'a', uid: 'u1' };

/** An API server that says what it was asked, and refuses updates with this. */
function server(refusal?: EspalierError) {
  const asked: unknown[] = [];
  return {
    asked,
    async update(object: KubeObject): Promise<KubeObject> {
      asked.push({ update: object });
      if (refusal !== undefined) throw refusal;
      return object;
    },
    async patch({ kind, namespace, name }: ObjectRef, body: Json): Promise<KubeObject> {
      asked.push({ patch: `${kind} ${namespace}/${name}`, body });
      return { ...OWNER, metadata: { name } };
    },
  };
}

const FIRST = { ...OWNER, resourceVersion: '7' };
const UPDATE = {
  apiVersion: OWNER.apiVersion,
  kind: 'Plugin',
  metadata: { namespace: 'ns', name: 'a', uid: 'u1', resourceVersion: '7' },
  status: { phase: 'Ready' },
};
const PATCH = { patch: 'Plugin ns/a', body: { metadata: { uid: 'u1' }, status: { phase: 'Ready' } } };

test('the first status of an object is sent whole, for the version that has none', async () => {
  const { asked, ...client } = server();
  await writeStatus(client, FIRST, undefined, { phase: 'Ready', message: undefined });
  assert.deepEqual(asked, [{ update: UPDATE }]);
});

test('a first status is a patch where the object has changed meanwhile, and nowhere else', async () => {
  const conflict = server(new EspalierError('KubeConflict', 'changed'));
  await writeStatus(conflict, FIRST, undefined, { phase: 'Ready' });
  assert.deepEqual(conflict.asked, [{ update: UPDATE }, PATCH]);
  const gone = server(new EspalierError('KubeNotFound', 'gone'));
  await assert.rejects(writeStatus(gone, FIRST, undefined, { phase: 'Ready' }), /gone/);
  assert.equal(gone.asked.length, 1);
});

test('any later status is the smallest patch, and what is equal is not written', async () => {
  const { asked, ...client } = server();
  await writeStatus(client, FIRST, { phase: 'Progressing', message: 'x' }, { phase: 'Ready', message: 'x' });
  await writeStatus(client, FIRST, { phase: 'Ready' }, { phase: 'Ready' });
  assert.deepEqual(asked, [PATCH]);
});
