import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject, Plugin } from '../api/index.ts';
import { nextPluginStatus } from './plugin-status.ts';
import { waitsOf } from './waits.ts';

const START = Date.parse('2026-01-01T10:00:00Z');
const MINUTE = 60_000;
const GATE = { apiVersion: 'v1', kind: 'ConfigMap', name: 'record', condition: 'Ensure' };
const BY = { ...GATE, by: 'operator demo' };

function pluginWith(spec: Record<string, unknown>, status?: Plugin['status']): Plugin {
  const metadata = { name: 'p', namespace: 'n', generation: 1 };
  const plugin = { apiVersion: 'espalier.dev/v1alpha1', kind: 'Plugin', metadata, spec: { enabled: true, ...spec } };
  return { ...plugin, ...(status === undefined ? {} : { status }) } as unknown as Plugin;
}

function record(data: Record<string, string>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'record', namespace: 'n' }, data };
}

interface World {
  object?: KubeObject | 'absent' | 'unknown';
  selected?: string;
  ready?: boolean;
  now?: number;
  isPreview?: true;
}

function waits(plugin: Plugin, { object = 'absent', selected, ready = true, now = START, isPreview }: World) {
  return waitsOf({
    plugin,
    now,
    pluginReadiness: () => (ready ? { ready: true } : { ready: false, why: 'not ready yet' }),
    outside: () => object,
    selected: () => selected,
    ...(isPreview === undefined ? {} : { isPreview }),
  });
}

describe('a closed gate', () => {
  for (const [title, gate, object, text] of [
    ['on an object that is not there', GATE, 'absent', 'ConfigMap record: does not exist'],
    ['on an object without the condition', GATE, record({}), 'ConfigMap record: condition Ensure is not true'],
    ['that somebody opens', BY, 'absent', 'operator demo to set Ensure on ConfigMap record'],
    ['that somebody opens, on an object not seen yet', BY, 'unknown', 'ConfigMap record: not seen yet'],
    [
      'whose opener says why not',
      BY,
      record({ Ensure: '{"status":"False","reason":"Failed","message":"disk full\\non n1"}' }),
      'ConfigMap record: operator demo says Ensure is not ready: disk full on n1',
    ],
    [
      'whose opener gives a reason alone',
      BY,
      record({ Ensure: '{"status":"False","reason":"Working"}' }),
      'ConfigMap record: operator demo says Ensure is not ready: Working',
    ],
    ['that is just not true', GATE, record({ Ensure: 'False' }), 'ConfigMap record: Ensure is not ready'],
  ] as const)
    test(title, () => assert.deepEqual(waits(pluginWith({ gates: [gate] }), { object }).for, [text]));

  test('is open once the object says so', () => {
    const plugin = pluginWith({ gates: [BY] });
    assert.deepEqual(waits(plugin, { object: record({ Ensure: 'True' }) }).for, []);
    assert.deepEqual(waits(plugin, { object: record({ Ensure: '{"status":"True"}' }) }).for, []);
  });

  test('tells a long message shortened', () => {
    const object = record({ Ensure: JSON.stringify({ status: 'False', message: 'so '.repeat(500) }) });
    const [text = ''] = waits(pluginWith({ gates: [BY] }), { object }).for;
    assert.ok(text.length < 300 && text.endsWith('…'), text);
  });
});

describe('the time of a gate', () => {
  const timed = { ...BY, timeout: '30m' };
  const spec = { gates: [timed], dependsOn: [{ name: 'first' }] };
  const wish = 'operator demo to set Ensure on ConfigMap record';

  function after(plugin: Plugin, world: World): Plugin {
    const { for: waitingFor, reason } = waits(plugin, world);
    const status = nextPluginStatus(plugin, { phase: 'Waiting', reason, waitingFor }, {}, world.now ?? START);
    return { ...plugin, status };
  }

  test('begins when nothing but gates is waited for', () => {
    const behind = after(pluginWith(spec), { ready: false });
    assert.deepEqual(behind.status?.waitingFor, ['first: not ready yet', `${wish} (within 30m)`]);
    const late = START + 120 * MINUTE;
    assert.deepEqual(waits(behind, { ready: false, now: late }).overdue, []);
    const atGates = after(behind, { now: late });
    assert.deepEqual(atGates.status?.waitingFor, [`${wish} (until 2026-01-01T12:30Z)`]);
    const soon = waits(atGates, { now: late + 29 * MINUTE });
    assert.deepEqual([soon.overdue, soon.until], [[], late + 30 * MINUTE]);
  });

  test('is over when it is over, and says what is missing', () => {
    const atGates = after(pluginWith(spec), {});
    const unset = waits(atGates, { now: START + 30 * MINUTE });
    assert.deepEqual(unset.for, [wish]);
    assert.deepEqual(unset.overdue, ['not opened within 30m: operator demo has not set Ensure on ConfigMap record']);
    const said = waits(atGates, {
      now: START + 31 * MINUTE,
      object: record({ Ensure: '{"status":"False","message":"m"}' }),
    });
    assert.deepEqual(said.overdue, [
      'not opened within 30m: ConfigMap record: operator demo says Ensure is not ready: m',
    ]);
    assert.deepEqual(waits(atGates, { now: START + 31 * MINUTE, object: record({ Ensure: 'True' }) }).overdue, []);
  });

  test('goes on through the time-out, and begins anew with another declaration', () => {
    const atGates = after(pluginWith(spec), {});
    const late = START + 40 * MINUTE;
    const { overdue, for: waitingFor } = waits(atGates, { now: late });
    const failed = { phase: 'Failed', reason: 'GateTimedOut', message: overdue.join(), userMustAct: true } as const;
    const status = nextPluginStatus(atGates, { ...failed, applied: false, waitingFor }, {}, late);
    assert.equal(waits({ ...atGates, status }, { now: late + MINUTE }).overdue.length, 1);
    const changed = { ...atGates, status, metadata: { ...atGates.metadata, generation: 2 } };
    assert.deepEqual(waits(changed, { now: late + MINUTE }).overdue, []);
  });

  test('has not begun in a preview', () => {
    const { for: waitsFor, until } = waits(pluginWith({ gates: [timed] }), { isPreview: true });
    assert.deepEqual([waitsFor, until], [[`${wish} (within 30m)`], undefined]);
  });
});

describe('every object of a kind', () => {
  const nodes = { apiVersion: 'v1', kind: 'Node', all: true };

  test('is waited for until all are ready', () => {
    const plugin = pluginWith({ dependsOn: [nodes] });
    const { for: waitsFor, reason } = waits(plugin, { selected: 'n2: not ready (and 1 more)' });
    assert.deepEqual([waitsFor, reason], [['all Nodes: n2: not ready (and 1 more)'], 'DependencyNotReady']);
    assert.deepEqual(waits(plugin, {}).for, []);
  });

  test('is named with its namespace and labels where they are given', () => {
    const plugin = pluginWith({ dependsOn: [{ ...nodes, kind: 'Pod', namespace: 'web', labels: { app: 'a' } }] });
    assert.deepEqual(waits(plugin, { selected: 'there is none' }).for, ['all Pods of web with app=a: there is none']);
  });
});
