import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type InventoryEntry, type KubeObject, LABEL, refKey, refOf } from '../api/index.ts';
import type { ObjectPlan } from './object-plan.ts';
import { planObjects } from './plan.ts';
import type { PlanInput, Prediction } from './plan-input.ts';

const KEEP_ALL = { policy: 'delete', crds: 'keep', namespaces: 'keep', volumes: 'keep' } as const;
const DELETE_ALL = { policy: 'delete', crds: 'delete', namespaces: 'delete', volumes: 'delete' } as const;
const SELF = { namespace: 'sys', name: 'web' };

const ownedBy = (name: string) => ({ [LABEL.plugin]: name, [LABEL.pluginNamespace]: 'sys' });

function make(
  kind: string,
  name: string,
  over: Partial<KubeObject> & { labels?: Record<string, string> } = {},
): KubeObject {
  const { labels = ownedBy('web'), metadata, ...rest } = over;
  const apiVersion = kind === 'CustomResourceDefinition' ? 'apiextensions.k8s.io/v1' : 'v1';
  const isCluster = ['Namespace', 'PersistentVolume', 'CustomResourceDefinition'].includes(kind);
  return {
    apiVersion,
    kind,
    metadata: { name, ...(isCluster ? {} : { namespace: 'web' }), labels, ...metadata },
    ...rest,
  };
}

const live = (
  object: KubeObject,
  uid = `uid-${object.metadata.name}`,
  over: Partial<KubeObject['metadata']> = {},
): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, uid, ...over },
});

function entryOf(object: KubeObject, uid: string | undefined = `uid-${object.metadata.name}`): InventoryEntry {
  return { ...refOf(object), ...(uid === undefined ? {} : { uid }) };
}

const keyed = <T>(pairs: readonly (readonly [KubeObject, T])[]) =>
  new Map(pairs.map(([object, value]) => [refKey(refOf(object)), value]));

interface Case extends Partial<Omit<PlanInput, 'live' | 'predicted' | 'record'>> {
  live?: KubeObject[];
  predicted?: [KubeObject, Prediction][];
  record?: InventoryEntry[];
}

function plan({ live: existing = [], predicted, record = [], ...over }: Case) {
  return planObjects({
    plugin: SELF,
    desired: [],
    rules: { deletion: KEEP_ALL, adopt: false, force: false },
    revisionComplete: true,
    record,
    live: keyed(existing.map((object) => [object, object])),
    ...(predicted === undefined ? {} : { predicted: keyed(predicted) }),
    ...over,
  });
}

/** The only object of a plan, without its name. */
function outcome(input: Case) {
  const { objects } = plan(input);
  assert.equal(objects.length, 1);
  const { key: _, ref: __, ...rest } = objects[0] as ObjectPlan;
  return rest;
}

const config = make('ConfigMap', 'c', { data: { a: '1' } });

describe('what a plugin declares', () => {
  it('is created where it does not exist', () => {
    assert.deepEqual(outcome({ desired: [config] }), { action: 'create', object: config });
  });

  it('is created again when it was deleted, though it is on record', () => {
    assert.equal(outcome({ desired: [config], record: [entryOf(config)] }).action, 'create');
  });

  it('is shown as the API server would make it', () => {
    const defaulted = { ...config, immutable: false };
    assert.deepEqual(outcome({ desired: [config], predicted: [[config, defaulted]] }), {
      action: 'create',
      object: defaulted,
    });
  });

  it('is left alone when it is as declared', () => {
    assert.deepEqual(outcome({ desired: [config], live: [live(config)] }), { action: 'unchanged', isOurs: true });
  });

  it('is changed field by field', () => {
    const old = live(make('ConfigMap', 'c', { data: { a: '0', extra: 'x' } }));
    const expected = { action: 'change', fields: [{ path: 'data.a', op: 'replace', old: '0', new: '1' }] };
    assert.deepEqual(outcome({ desired: [config], live: [old] }), expected);
  });

  it('believes the dry run rather than its own comparison', () => {
    const old = live(make('ConfigMap', 'c', { data: { a: '0' } }));
    assert.equal(outcome({ desired: [config], live: [old], predicted: [[config, old]] }).action, 'unchanged');
  });

  it('loses fields that its declaration no longer has', () => {
    const managedFields = [
      { manager: 'espalier', operation: 'Apply' as const, fieldsV1: { 'f:data': { 'f:a': {}, 'f:gone': {} } } },
    ];
    const old = live(make('ConfigMap', 'c', { data: { a: '1', gone: 'x' } }), 'u', { managedFields });
    const expected = { action: 'change', fields: [{ path: 'data.gone', op: 'remove', old: 'x' }] };
    assert.deepEqual(outcome({ desired: [config], live: [old] }), expected);
  });

  it('is the same object in another API version', () => {
    const v1beta1 = { ...config, apiVersion: 'x.io/v1beta1' };
    const v1 = { ...config, apiVersion: 'x.io/v1' };
    const found = plan({ desired: [v1], live: [live(v1)], record: [entryOf(v1beta1, 'uid-c')] });
    assert.deepEqual(
      found.objects.map((object) => object.action),
      ['unchanged'],
    );
  });

  it('is the same object in another API group when its UID is the same', () => {
    const [old, now] = [
      { ...config, apiVersion: 'extensions/v1' },
      { ...config, apiVersion: 'networking.k8s.io/v1' },
    ];
    const found = plan({ desired: [now], live: [live(old, 'u'), live(now, 'u')], record: [entryOf(old, 'u')] });
    assert.deepEqual(
      found.objects.map((object) => object.action),
      ['unchanged', 'moved'],
    );
  });

  it('says what the API server refuses', () => {
    const predicted: Case['predicted'] = [[config, { refused: 'no' }]];
    assert.deepEqual(outcome({ desired: [config], predicted }), { action: 'refused', message: 'no' });
    assert.deepEqual(outcome({ desired: [config], live: [live(config)], predicted }), {
      action: 'refused',
      message: 'no',
    });
  });

  it('waits for an object that is being deleted, and says what holds it', () => {
    const going = live(config, 'u', { deletionTimestamp: 't', finalizers: ['x/y'] });
    const found = plan({ desired: [config], live: [going] });
    assert.deepEqual(found.objects[0]?.action === 'create' && found.objects[0].after, {
      uid: 'u',
      since: 't',
      finalizers: ['x/y'],
    });
    assert.match(found.warnings.join(), /ConfigMap web\/c is being deleted \(held by finalizers x\/y\)/);
  });

  it('must not be in it twice', () => {
    assert.throws(() => plan({ desired: [config, config] }), { code: 'Internal' });
  });

  it('shows no value of a Secret, neither in changes nor in what is refused', () => {
    const secret = make('Secret', 's', { data: { k: Buffer.from('canary-2').toString('base64') } });
    const old = live(make('Secret', 's', { data: { k: Buffer.from('canary-1').toString('base64') } }));
    const refused = { refused: 'data[k]: Invalid value: "canary-2"' };
    for (const input of [
      { desired: [secret] },
      { desired: [secret], live: [old] },
      { desired: [secret], predicted: [[secret, refused]] as Case['predicted'] & object },
    ]) {
      const text = JSON.stringify(plan(input));
      assert.ok(!/canary|Y2FuYXJ5/.test(text), text);
    }
    assert.deepEqual(outcome({ desired: [secret], live: [old] }), {
      action: 'change',
      fields: [{ path: 'data.k', op: 'replace', old: '••• (1)', new: '••• (2)' }],
    });
  });
});

describe('law 7: what exists already', () => {
  const foreign = (metadata: Partial<KubeObject['metadata']> = {}) =>
    live(make('ConfigMap', 'c', { labels: {} }), 'u', metadata);

  it('and nobody declared is untouched (D12), and says who seems to look after it', () => {
    const managedFields = [{ manager: 'kubectl-create' }, { manager: 'x', subresource: 'status' }];
    const found = outcome({ desired: [config], live: [foreign({ managedFields })] });
    assert.ok(found.action === 'conflict');
    assert.equal(found.with, 'kubectl-create');
    assert.match(found.why, /spec\.apply\.adopt/);
  });

  for (const [who, metadata] of [
    ['Helm release a/b', { annotations: { 'meta.helm.sh/release-name': 'b', 'meta.helm.sh/release-namespace': 'a' } }],
    [
      'Flux Kustomization f/k',
      { labels: { 'kustomize.toolkit.fluxcd.io/name': 'k', 'kustomize.toolkit.fluxcd.io/namespace': 'f' } },
    ],
    ['Argo CD application shop', { annotations: { 'argocd.argoproj.io/tracking-id': 'shop:/ConfigMap:web/c' } }],
    ['Widget w', { ownerReferences: [{ apiVersion: 'x/v1', kind: 'Widget', name: 'w', uid: 'u', controller: true }] }],
    ['nobody known', {}],
  ] as const) {
    it(`names ${who} as its holder`, () => {
      const found = outcome({ desired: [config], live: [foreign(metadata as Partial<KubeObject['metadata']>)] });
      assert.equal(found.action === 'conflict' && found.with, who);
    });
  }

  it('is adopted where the plugin, the declaration or the object asks for it', () => {
    const annotations = { 'espalier.dev/adopt': 'true' };
    const asking = make('ConfigMap', 'c', {
      metadata: { name: 'c', namespace: 'web', labels: ownedBy('web'), annotations },
    });
    const rules = { deletion: KEEP_ALL, adopt: true, force: false };
    for (const input of [
      { desired: [config], live: [foreign()], rules },
      { desired: [asking], live: [foreign()] },
      { desired: [config], live: [foreign({ annotations })] },
    ]) {
      const found = outcome(input);
      assert.ok(found.action === 'adopt' && found.from === undefined);
      assert.ok(found.fields.some((field) => field.path.includes('espalier.dev/plugin')));
    }
  });

  it('is ours by UID when only its labels were taken off', () => {
    assert.equal(outcome({ desired: [config], live: [foreign()], record: [entryOf(config, 'u')] }).action, 'change');
  });

  it('is not ours when it was created anew since, nor by an intent alone', () => {
    for (const uid of ['old', undefined]) {
      const record = [{ ...refOf(config), ...(uid === undefined ? {} : { uid }) }];
      assert.equal(outcome({ desired: [config], live: [foreign()], record }).action, 'conflict');
    }
  });

  it('is ours by its labels when a crash came before its UID was on record', () => {
    assert.equal(outcome({ desired: [config], live: [live(config)], record: [] }).action, 'unchanged');
  });

  const others = live(make('ConfigMap', 'c', { labels: ownedBy('first') }), 'u');

  it("and is declared by another plugin stays that one's; the second is told which (D11)", () => {
    for (const ownerStillDeclares of [() => true, undefined]) {
      const found = outcome({
        desired: [config],
        live: [others],
        ...(ownerStillDeclares ? { ownerStillDeclares } : {}),
      });
      assert.equal(found.action === 'conflict' && found.with, 'plugin sys/first');
    }
  });

  it('is not taken from another plugin even where adopting is asked for', () => {
    const rules = { deletion: KEEP_ALL, adopt: true, force: true };
    assert.equal(outcome({ desired: [config], live: [others], rules }).action, 'conflict');
  });

  it('is taken over from a plugin that no longer declares it, and keeps its UID (D2)', () => {
    const found = outcome({ desired: [config], live: [others], ownerStillDeclares: () => false });
    assert.equal(found.action === 'adopt' && found.from, 'sys/first');
  });

  it('on the record of another plugin is not created by a second one', () => {
    const found = outcome({ desired: [config], recordedElsewhere: () => 'sys/first' });
    assert.equal(found.action === 'conflict' && found.with, 'plugin sys/first');
    const ours = outcome({ desired: [config], record: [entryOf(config)], recordedElsewhere: () => 'sys/first' });
    assert.equal(ours.action, 'create');
  });

  it('and has fields of another manager is a conflict that names fields and manager, unless forced', () => {
    const conflicts = [{ field: '.data.a', manager: 'kubectl' }];
    const input: Case = { desired: [config], live: [live(config)], predicted: [[config, { conflicts }]] };
    const found = outcome(input);
    assert.deepEqual(found.action === 'conflict' && [found.with, found.fields], ['kubectl', conflicts]);
    const rules = { deletion: KEEP_ALL, adopt: false, force: true };
    assert.equal(outcome({ ...input, rules }).action, 'unchanged');
  });

  it('is enough for a namespace that several plugins ask for', () => {
    const namespace = make('Namespace', 'shared');
    const ensure = new Set([refKey(refOf(namespace))]);
    const expected = { action: 'unchanged', isOurs: false };
    for (const labels of [{}, ownedBy('first')]) {
      assert.deepEqual(
        outcome({ desired: [namespace], live: [live(make('Namespace', 'shared', { labels }))], ensure }),
        expected,
      );
    }
    assert.equal(outcome({ desired: [namespace], ensure }).action, 'create');
    assert.deepEqual(outcome({ desired: [namespace], live: [live(namespace)], ensure }), {
      action: 'unchanged',
      isOurs: true,
    });
  });
});

describe('law 4: what is no longer declared', () => {
  const record = [entryOf(config)];

  it('is deleted by its UID', () => {
    assert.deepEqual(outcome({ record, live: [live(config)] }), { action: 'delete', uid: 'uid-c' });
  });

  it('is deleted by its UID also when its labels were taken off', () => {
    assert.equal(outcome({ record, live: [live(make('ConfigMap', 'c', { labels: {} }))] }).action, 'delete');
  });

  it('is only forgotten when it is gone', () => {
    const found = plan({ record });
    assert.deepEqual([found.objects, found.gone], [[], [refOf(config)]]);
  });

  it('stays when another object has its name now', () => {
    const labelled = outcome({ record, live: [live(config, 'other')] });
    assert.deepEqual(labelled.action === 'keep' && [labelled.reason, labelled.forget], ['replaced', false]);
    const foreign = outcome({ record, live: [live(make('ConfigMap', 'c', { labels: {} }), 'other')] });
    assert.deepEqual(foreign.action === 'keep' && [foreign.reason, foreign.forget], ['replaced', true]);
  });

  it('is deleted without a UID on record only while it carries our labels (R2)', () => {
    const intent = [refOf(config)];
    assert.deepEqual(outcome({ record: intent, live: [live(config)] }), { action: 'delete', uid: 'uid-c' });
    assert.equal(outcome({ record: intent, live: [live(make('ConfigMap', 'c', { labels: {} }))] }).action, 'keep');
  });

  it('is moved, not removed, when another plugin declares it', () => {
    for (const existing of [[], [live(config)], [live(make('ConfigMap', 'c', { labels: ownedBy('next') }))]]) {
      const found = outcome({ record, live: existing, elsewhere: () => 'sys/next' });
      assert.deepEqual(found, { action: 'moved', to: 'sys/next' });
    }
  });

  it('stays when its labels say that another plugin owns it', () => {
    const found = outcome({ record, live: [live(make('ConfigMap', 'c', { labels: ownedBy('next') }))] });
    assert.equal(found.action === 'keep' && found.reason, 'relabelled');
  });

  it('is not deleted for carrying our labels alone', () => {
    const found = plan({ live: [live(config)] });
    assert.deepEqual([found.objects, found.gone], [[], []]);
  });

  it('is reported as going when it was asked to go already', () => {
    const going = live(config, 'uid-c', { deletionTimestamp: 't', finalizers: ['x/y'] });
    const found = outcome({ record, live: [going] });
    assert.deepEqual(found.action === 'delete' && found.terminating?.finalizers, ['x/y']);
  });

  it('stays while the revision is not whole (law 2)', () => {
    const found = outcome({ record, live: [live(config)], revisionComplete: false });
    assert.equal(found.action === 'keep' && found.reason, 'incomplete');
  });

  it('stays when the agent is made of it (D10), with a warning', () => {
    const found = plan({ record, live: [live(config)], isAgent: (object) => object.metadata.name === 'c' });
    assert.equal(found.objects[0]?.action === 'keep' && found.objects[0].reason, 'agent');
    assert.match(found.warnings.join(), /ConfigMap web\/c left the repository but is not removed/);
  });

  it('stays where Helm users said so', () => {
    const annotations = { 'helm.sh/resource-policy': 'keep' };
    assert.equal(outcome({ record, live: [live(config, 'uid-c', { annotations })] }).action, 'keep');
  });

  it('is left to nobody when the plugin is removed with policy orphan, and only then', () => {
    const rules = { deletion: { ...DELETE_ALL, policy: 'orphan' as const }, adopt: false, force: false };
    const removed = outcome({ record, live: [live(config)], rules, removing: true });
    assert.deepEqual(removed.action === 'keep' && [removed.reason, removed.forget], ['orphan', true]);
    assert.equal(outcome({ record, live: [live(config)], rules }).action, 'delete');
  });
});

describe('law 5: definitions, namespaces and volumes', () => {
  const crd = make('CustomResourceDefinition', 'widgets.x.io', { spec: { group: 'x.io', names: { kind: 'Widget' } } });
  const namespace = make('Namespace', 'web');
  const claim = make('PersistentVolumeClaim', 'data');
  const widget: KubeObject = { ...make('Widget', 'w'), apiVersion: 'x.io/v1' };
  const deleting = { deletion: DELETE_ALL, adopt: false, force: false };

  function removal(objects: KubeObject[], over: Case = {}): string[] {
    const found = plan({
      record: objects.map((object) => entryOf(object)),
      live: objects.map((object) => live(object)),
      ...over,
    });
    return found.objects.map(
      (object) => `${object.ref.kind} ${object.action}${object.action === 'keep' ? `: ${object.why}` : ''}`,
    );
  }

  it('stay unless told otherwise (D9)', () => {
    assert.deepEqual(removal([crd, namespace, claim, make('PersistentVolume', 'pv')], { instancesOf: () => 0 }), [
      'PersistentVolumeClaim keep: deletion.volumes is keep',
      'PersistentVolume keep: deletion.volumes is keep',
      'CustomResourceDefinition keep: deletion.crds is keep',
      'Namespace keep: deletion.namespaces is keep',
    ]);
  });

  it('go where told so', () => {
    assert.deepEqual(removal([namespace, claim, crd], { rules: deleting, instancesOf: () => 0 }), [
      'PersistentVolumeClaim delete',
      'CustomResourceDefinition delete',
      'Namespace delete',
    ]);
  });

  it('a definition with objects stays, and says how many there are (D8)', () => {
    const why = 'CustomResourceDefinition keep: deletion.crds is keep; 2 objects of it exist';
    assert.deepEqual(removal([crd], { instancesOf: () => 2 }), [why]);
    const told = 'CustomResourceDefinition keep: it goes when its objects are gone; 1 object of it exists';
    assert.deepEqual(removal([crd], { rules: deleting, instancesOf: () => 1 }), [told]);
  });

  it('a definition follows the last of its objects (D19)', () => {
    assert.deepEqual(removal([crd, widget], { rules: deleting, instancesOf: () => 1 }), [
      'Widget delete',
      'CustomResourceDefinition delete',
    ]);
    assert.match(removal([crd, widget], { rules: deleting, instancesOf: () => 2 })[1] ?? '', /keep: .* 1 object/);
  });

  it('a definition stays while nobody knows whether it has objects (law 1)', () => {
    for (const instancesOf of [() => 'unknown' as const, () => undefined]) {
      assert.match(removal([crd], { rules: deleting, instancesOf })[0] ?? '', /keep: it is not known/);
    }
    assert.match(removal([crd], { rules: deleting })[0] ?? '', /keep: it is not known/);
  });

  it('a namespace does not take with it what stays or is declared', () => {
    const keepVolumes = { deletion: { ...DELETE_ALL, volumes: 'keep' as const }, adopt: false, force: false };
    assert.deepEqual(removal([namespace, claim], { rules: keepVolumes }), [
      'PersistentVolumeClaim keep: deletion.volumes is keep',
      'Namespace keep: PersistentVolumeClaim data in it stays',
    ]);
    assert.match(
      removal([namespace], { rules: deleting, desired: [config] }).at(-1) ?? '',
      /keep: this plugin still declares/,
    );
    assert.match(
      removal([namespace], { rules: deleting, namespaceUsedBy: () => 'sys/b' })[0] ?? '',
      /keep: plugin sys\/b/,
    );
  });

  it('a namespace stays with a volume claim that anybody made in it, and where nobody knows of any', () => {
    const keepVolumes = { deletion: { ...DELETE_ALL, volumes: 'keep' as const }, adopt: false, force: false };
    const why = (claimsIn: () => readonly string[] | 'unknown', rules = keepVolumes) =>
      removal([namespace], { rules, claimsIn });
    assert.deepEqual(
      why(() => ['data-0', 'data-1']),
      ['Namespace keep: PersistentVolumeClaim data-0 in it stays'],
    );
    assert.match(why(() => 'unknown')[0] ?? '', /keep: it is not known/);
    assert.deepEqual(
      why(() => []),
      ['Namespace delete'],
    );
    const told = { ...keepVolumes, deletion: { ...DELETE_ALL, volumes: 'delete' as const } };
    assert.deepEqual(removal([namespace], { rules: told, claimsIn: () => ['data-0'] }), ['Namespace delete']);
  });

  it('a namespace that the cluster itself needs always stays', () => {
    assert.match(removal([make('Namespace', 'kube-system')], { rules: deleting })[0] ?? '', /keep: the cluster itself/);
  });

  it('an object of the same kind in another group is like any other', () => {
    const other: KubeObject = { ...make('PersistentVolumeClaim', 'x'), apiVersion: 'x.io/v1' };
    assert.deepEqual(removal([other]), ['PersistentVolumeClaim delete']);
  });
});

it('a plan counts what it says', () => {
  const old = make('ConfigMap', 'old');
  const found = plan({ desired: [config], live: [live(old)], record: [entryOf(old)] });
  assert.deepEqual(
    Object.entries(found.counts).filter(([, count]) => count > 0),
    [
      ['create', 1],
      ['delete', 1],
    ],
  );
});
