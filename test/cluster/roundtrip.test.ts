import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { KubeObject, ObjectRef } from '../../src/api/index.ts';
import { refOf } from '../../src/api/index.ts';
import type { KubeClient } from '../../src/cluster/client.ts';
import { isRecord } from '../../src/cluster/json.ts';
import { collectionPath } from '../../src/cluster/paths.ts';
import { testClient, testNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { uniqueName } from '../support/names.ts';
import { definition, deployment, networkPolicy, thing } from './everyfield.ts';

/** Every leaf of what was sent that is not the same in what came back. */
function lost(sent: unknown, got: unknown, path = ''): string[] {
  if (isRecord(sent)) {
    return Object.entries(sent).flatMap(([key, value]) =>
      lost(value, isRecord(got) ? got[key] : undefined, `${path}.${key}`),
    );
  }
  if (Array.isArray(sent)) {
    if (!Array.isArray(got) || got.length !== sent.length) return [`${path} has another length`];
    return sent.flatMap((value, index) => lost(value, got[index], `${path}[${index}]`));
  }
  return sent === got ? [] : [`${path}: ${JSON.stringify(sent)} became ${JSON.stringify(got)}`];
}

async function bytesOf(client: KubeClient, ref: ObjectRef): Promise<string> {
  const resource = await client.resource(ref.apiVersion, ref.kind);
  const { body } = await client.raw({ method: 'GET', path: `${collectionPath(resource, ref.namespace)}/${ref.name}` });
  return body.trim();
}

/** Go escapes what HTML would mind; otherwise both write JSON alike. */
function asGoWrites(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&]/g, (each) => `\\u00${each.charCodeAt(0).toString(16)}`);
}

/** Applies it, reads it back, writes what was read, and finds nothing missing anywhere. */
async function survives(client: KubeClient, object: KubeObject): Promise<void> {
  const ref = refOf(object);
  const applied = await client.apply(object, { fieldManager: 'test', fieldValidation: 'Strict' });
  assert.deepEqual(lost(object, applied), [], 'the answer to the apply has every field');
  await eventually(async () => {
    const live = await client.get(ref);
    assert.ok(live !== undefined);
    assert.deepEqual(lost(object, live), [], 'what is stored has every field');
    // Controllers may write between these; then all of it again.
    const bytes = await bytesOf(client, ref);
    assert.equal(asGoWrites(live), bytes, 'the client gives what the server sent, byte for byte');
    const written = await client.update(live);
    assert.equal(written.metadata.resourceVersion, live.metadata.resourceVersion, 'writing it back changes nothing');
    assert.equal(await bytesOf(client, ref), bytes);
  });
}

async function cleaned(t: TestContext, client: KubeClient, ref: ObjectRef): Promise<void> {
  t.after(async () => {
    await client.delete(ref);
  });
}

test('every field of a NetworkPolicy survives a round trip', async (t) => {
  await survives(testClient(), networkPolicy(await testNamespace(t)));
});

test('every field of a Deployment survives a round trip', async (t) => {
  await survives(testClient(), deployment(await testNamespace(t)));
});

test('every field of a CRD and of an object of its kind survives a round trip', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const crd = definition(`${uniqueName('g')}.example.com`);
  await cleaned(t, client, refOf(crd));
  await survives(client, crd);
  const object = thing(crd, namespace);
  await eventually(() => client.resource(object.apiVersion, object.kind));
  await survives(client, object);
});
