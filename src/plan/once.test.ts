import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ANNOTATION, type InventoryEntry, type KubeObject, LABEL, refKey, refOf } from '../api/index.ts';
import { planDocument } from './json-form.ts';
import { planMarkdown } from './markdown.ts';
import { type OnceWish, runsByCreation } from './once.ts';
import { planObjects } from './plan.ts';
import { planText } from './text.ts';
import type { Plan } from './whole.ts';

const LABELS = { [LABEL.plugin]: 'demo', [LABEL.pluginNamespace]: 'sys' };

function job(key: string | undefined, { image = 'a', uid }: { image?: string; uid?: string } = {}): KubeObject {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: 'migrate',
      namespace: 'web',
      labels: LABELS,
      ...(key === undefined ? {} : { annotations: { [ANNOTATION.once]: key } }),
      ...(uid === undefined ? {} : { uid }),
    },
    spec: { template: { spec: { containers: [{ name: 'main', image }] } } },
  };
}

const KEY = refKey(refOf(job('v1')));
const RAN_AT = '2026-11-18T12:00:00Z';

interface Case {
  declared?: KubeObject;
  live?: KubeObject;
  once?: InventoryEntry['once'];
  wish?: Partial<OnceWish>;
  adopt?: boolean;
  record?: InventoryEntry[];
}

function plan({ declared = job('v1'), live, once, wish = {}, adopt = false, record }: Case): Plan {
  const entry: InventoryEntry = { ...refOf(declared), uid: 'old', ...(once === undefined ? {} : { once }) };
  const made = planObjects({
    plugin: { namespace: 'sys', name: 'demo' },
    desired: [declared],
    live: new Map(live === undefined ? [] : [[KEY, live]]),
    record: record ?? [entry],
    rules: { deletion: { policy: 'delete', crds: 'keep', namespaces: 'keep', volumes: 'keep' }, adopt, force: false },
    revisionComplete: true,
    once: new Map([
      [KEY, { key: declared.metadata.annotations?.[ANNOTATION.once] ?? '', changed: false, rerun: false, ...wish }],
    ]),
  });
  return { commit: { head: '9b7e013' }, plugins: [made], held: [], faults: [], waits: [], drift: [] };
}

function outcome(input: Case) {
  const [object] = plan(input).plugins[0]?.objects ?? [];
  assert.ok(object !== undefined);
  const { key: _, ref: __, ...rest } = object;
  return rest;
}

const replaced = (input: Case) => {
  const found = outcome(input);
  return found.action === 'create' ? found.replaces : found.action;
};

describe('an object that runs once', () => {
  it('is created where it has not run, and again where it went before it had', () => {
    assert.equal(outcome({ record: [] }).action, 'create');
    assert.equal(outcome({ once: { key: 'v1' } }).action, 'create');
  });

  it('is left alone once it has run: where it is gone, where it is there, and where it is declared otherwise', () => {
    const once = { key: 'v1', at: RAN_AT };
    assert.deepEqual(outcome({ once }), { action: 'unchanged', isOurs: true, once });
    const live = job('v1', { uid: 'old' });
    assert.deepEqual(outcome({ once, live }), { action: 'unchanged', isOurs: true, once });
    const changed = { declared: job('v1', { image: 'b' }), wish: { changed: true } };
    assert.deepEqual(outcome({ once, live, ...changed }), {
      action: 'unchanged',
      isOurs: true,
      once: { ...once, changed: true },
    });
  });

  it('is made anew for another key, whatever a crash left on record', () => {
    const live = job('v1', { uid: 'old' });
    const expected = { uid: 'old', why: 'it was for v1, and is to run for v2' };
    for (const once of [{ key: 'v1', at: RAN_AT }, { key: 'v1' }, { key: 'v2' }])
      assert.deepEqual(replaced({ declared: job('v2'), live, once }), expected);
    // Somebody took the annotation off.
    assert.deepEqual(
      replaced({ declared: job('v2'), live: job(undefined, { uid: 'old' }), once: { key: 'v1' } }),
      expected,
    );
    assert.equal(outcome({ declared: job('v2'), once: { key: 'v1', at: RAN_AT } }).action, 'create');
  });

  it('is made anew when it failed and is asked to, or is declared otherwise before it has run', () => {
    const live = job('v1', { uid: 'old' });
    const once = { key: 'v1' };
    assert.match(JSON.stringify(replaced({ live, once, wish: { rerun: true } })), /asked to run again/);
    const declared = job('v1', { image: 'b' });
    assert.match(JSON.stringify(replaced({ declared, live, once, wish: { changed: true } })), /declared otherwise/);
  });

  it('is changed in place where only its metadata is declared otherwise; only Jobs and Pods run by being created', () => {
    const live = job('v1', { uid: 'old' });
    const labelled = job('v1');
    labelled.metadata.labels = { ...LABELS, tier: 'back' };
    assert.equal(replaced({ declared: labelled, live, once: { key: 'v1' }, wish: { changed: true } }), 'change');
    assert.deepEqual(
      [
        ['batch/v1', 'Job'],
        ['v1', 'Pod'],
        ['v1', 'ConfigMap'],
        ['example.com/v1', 'Job'],
      ].map(([apiVersion = '', kind = '']) => runsByCreation({ apiVersion, kind })),
      [true, true, false, false],
    );
  });

  it('that existed before is adopted as it is, and one that was no such object before goes on', () => {
    const { [LABEL.plugin]: _, ...foreign } = LABELS;
    const found = job('v0', { uid: 'theirs' });
    found.metadata.labels = foreign;
    assert.equal(replaced({ live: found, adopt: true, record: [], wish: { changed: true } }), 'adopt');
    assert.equal(replaced({ live: job(undefined, { uid: 'old' }), wish: { changed: true } }), 'change');
  });

  it('is told in every form of a plan, as unchanged and why, and first of all where its change means nothing', () => {
    const ran = plan({ once: { key: 'demo v1.0', at: RAN_AT }, declared: job('demo v1.0') });
    assert.match(planText(ran, { full: true }), / {2}Job web\/migrate: ran once for demo v1\.0\n/);
    assert.match(planText(ran), /1 plugin: no changes/);
    assert.doesNotMatch(planText(ran), /migrate/);
    const [object] = planDocument(ran).plugins[0]?.objects ?? [];
    assert.deepEqual([object?.action, object?.once], ['unchanged', { key: 'demo v1.0', at: RAN_AT }]);

    const wish = { changed: true };
    const changed = plan({ once: { key: 'v1', at: RAN_AT }, declared: job('v1', { image: 'b' }), wish });
    for (const text of [planText(changed), planMarkdown(changed)])
      assert.match(text, /migrate: ran once for v1; as it is declared now it runs under another espalier\.dev\/once/);
    const anew = plan({ declared: job('v2'), live: job('v1', { uid: 'old' }), once: { key: 'v1' } });
    assert.match(planText(anew), /\+ Job web\/migrate: in place of the present one, which is deleted: it was for v1/);
    assert.equal(planDocument(anew).summary.delete, 0);
  });
});
