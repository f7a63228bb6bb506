import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, type KubeObject, type Plugin, readAs } from '../api/index.ts';
import { readInventory } from '../converge/inventory.ts';
import { Intents } from './intents.ts';
import type { Parts } from './parts.ts';
import { saveStatus } from './save-status.ts';

const PLUGIN = readAs(
  {
    apiVersion: 'espalier.dev/v1alpha1',
    kind: 'Plugin',
    metadata: { name: 'a', namespace: 'ns', uid: 'u1', generation: 1 },
    spec: { kind: 'manifests', source: { git: { path: 'apps' } } },
  },
  'Plugin',
);
const INTENT = { attempted: { key: 'k1' }, inventory: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'c' }] };

test('law 3: the first status of a Plugin takes along the intent that was on record elsewhere, whatever it has to say', async () => {
  const intents = new Intents({
    client: { get: async () => undefined, create: async (object) => object, update: async (object) => object },
    namespace: 'espalier-system',
    log: { debug: () => undefined, warn: () => undefined },
    onChange: () => undefined,
  });
  await intents.record(PLUGIN, INTENT.attempted, readInventory(INTENT.inventory));
  const sent: Json[] = [];
  const parts = {
    intents,
    plugins: { get: (): Plugin => intents.over(PLUGIN), put: () => undefined },
    client: {
      async patch(_ref: unknown, body: Json): Promise<KubeObject> {
        sent.push((body as { status: Json }).status);
        return PLUGIN as unknown as KubeObject;
      },
    },
    clock: { now: () => 0 },
    events: { record: () => undefined },
  } as unknown as Parts;
  await saveStatus(parts, 'ns/a', { outcome: { phase: 'Suspended', nested: false }, findings: {} });
  const [status] = sent as { phase: string; inventory: unknown; attempted: unknown }[];
  assert.equal(status?.phase, 'Suspended');
  assert.deepEqual(status?.inventory, ['v1 ConfigMap c']);
  assert.deepEqual(status?.attempted, INTENT.attempted);
});
