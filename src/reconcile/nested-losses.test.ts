import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { API_VERSION, type InventoryEntry, type KubeObject, LABEL, type Plugin, readAs, refKey } from '../api/index.ts';
import { readInventory } from '../converge/inventory.ts';
import type { ObjectPlan } from '../plan/object-plan.ts';
import { lostWith, nestedLosses, type PluginsNow } from './nested-losses.ts';
import { DROPPED } from './records.ts';

const ref = (kind: string, name: string): InventoryEntry => ({
  apiVersion: kind === 'Plugin' ? API_VERSION : 'v1',
  kind,
  namespace: 'ns',
  name,
});

function plugin(name: string, installed: string[], parent = 'all', enabled = true): Plugin {
  const labels = { [LABEL.plugin]: parent, [LABEL.pluginNamespace]: 'ns' };
  const spec = { kind: 'manifests', source: { git: { path: 'apps' } }, enabled };
  const status = { inventory: installed.map((one) => ref('ConfigMap', one)) };
  return readAs(
    { apiVersion: API_VERSION, kind: 'Plugin', metadata: { name, namespace: 'ns', labels }, spec, status },
    'Plugin',
  );
}

function now(plugins: readonly Plugin[], elsewhere: readonly string[] = []): PluginsNow {
  const byKey = new Map(plugins.map((one) => [`ns/${one.metadata.name}`, one]));
  const taken = new Set(elsewhere.map((name) => refKey(ref('ConfigMap', name))));
  return {
    get: (key) => byKey.get(key),
    values: () => byKey.values(),
    elsewhere: (_self, at) => (taken.has(at) ? 'ns/other' : undefined),
  };
}

function lossesOf(names: string[], deleted: string[], plugins: PluginsNow, objects: KubeObject[] = []) {
  const record = readInventory(
    names.map((name) => ({ ...ref('Plugin', name), ...(deleted.includes(name) ? { applied: DROPPED } : {}) })),
  );
  const steps = deleted.map(
    (name): ObjectPlan => ({ key: refKey(ref('Plugin', name)), ref: ref('Plugin', name), action: 'delete', uid: name }),
  );
  const plan = {
    plugin: { namespace: 'ns', name: 'all' },
    objects: steps,
    gone: [],
    counts: {} as never,
    warnings: [],
  };
  return nestedLosses({ plan, record, objects }, plugins);
}

describe('what goes with nested Plugins', () => {
  const [a, b, c] = [plugin('a', ['a1', 'a2']), plugin('b', ['b1']), plugin('c', ['c1'])];

  test('counts Plugins and what they installed', () => {
    assert.deepEqual(lossesOf(['a', 'b', 'c'], ['a', 'b'], now([a, b, c])), { plugins: 2, owned: 3, objects: 3 });
    assert.deepEqual(lossesOf(['a', 'b', 'c'], [], now([a, b, c])), { plugins: 0, owned: 3, objects: 0 });
  });

  test('counts what is nested in them, too', () => {
    const deep = plugin('deep', ['d1', 'd2', 'd3'], 'a');
    assert.deepEqual(lossesOf(['a', 'b'], ['a'], now([a, b, deep])), { plugins: 2, owned: 3, objects: 5 });
  });

  test('leaves out one of which others declare everything, and single objects that others declare', () => {
    assert.deepEqual(lossesOf(['a', 'b'], ['a', 'b'], now([a, b], ['b1', 'a1'])), { plugins: 1, owned: 2, objects: 1 });
    assert.deepEqual(lostWith([a, b], now([a, b], ['b1'])), [a]);
  });

  test('counts one that is switched off where it stands, until it is off', () => {
    const off = { ...a, spec: { ...a.spec, enabled: false } } as unknown as KubeObject;
    assert.equal(lossesOf(['a', 'b'], [], now([a, b]), [off]).plugins, 1);
    const isOff = plugin('a', ['a1'], 'all', false);
    assert.equal(lossesOf(['a', 'b'], [], now([isOff, b]), [off]).plugins, 0);
  });
});
