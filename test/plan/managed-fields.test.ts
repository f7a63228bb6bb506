import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { FIELD_MANAGER, type KubeObject, refKey, refOf } from '../../src/api/index.ts';
import { driftOf } from '../../src/plan/drift.ts';
import { appliedFields, hashFields } from '../../src/plan/fields.ts';
import { withoutIgnored } from '../../src/plan/ignore.ts';
import { planObjects } from '../../src/plan/plan.ts';
import { kubectl, testClient, testNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';

const REVISION = 'deployment.kubernetes.io/revision';
const RULES = [{ paths: ['/spec/replicas'] }];

function deployment(namespace: string, over: { replicas?: number; image?: string } = {}): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace, labels: { app: 'web', tier: 'front' } },
    spec: {
      replicas: over.replicas ?? 3,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          containers: [
            {
              name: 'app',
              image: over.image ?? 'app:1',
              ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP' }],
            },
          ],
        },
      },
    },
  };
}

const apply = (object: KubeObject, force = false) => testClient().apply(object, { fieldManager: FIELD_MANAGER, force });
const replicasOf = (object: KubeObject) => (object.spec as { replicas?: number }).replicas;

async function applied(t: TestContext) {
  const namespace = await testNamespace(t);
  const declared = deployment(namespace);
  const first = await apply(declared);
  const recorded = appliedFields(first.metadata.managedFields, FIELD_MANAGER);
  assert.ok(recorded);
  const live = async () => (await testClient().get(refOf(declared))) as KubeObject;
  const drift = async () =>
    driftOf({
      declared,
      recorded,
      managedFields: (await live()).metadata.managedFields,
      manager: FIELD_MANAGER,
      ignore: [],
    });
  return { namespace, declared, recorded, live, drift };
}

describe('drift on a real API server', () => {
  it('is none right after an apply, nor after a second one', async (t) => {
    const { declared, recorded, drift } = await applied(t);
    assert.deepEqual(await drift(), { state: 'none' });
    const again = await apply(declared);
    assert.equal(
      hashFields(appliedFields(again.metadata.managedFields, FIELD_MANAGER)?.fields ?? {}),
      hashFields(recorded.fields),
    );
  });

  for (const [who, args, path, isSure] of [
    [
      'kubectl set image',
      ['set', 'image', 'deployment/web', 'app=app:2'],
      'spec.template.spec.containers[name=app].image',
      true,
    ],
    ['kubectl scale', ['scale', 'deployment/web', '--replicas=5'], 'spec.replicas', true],
    ['kubectl label (removing one)', ['label', 'deployment/web', 'tier-'], 'metadata.labels.tier', false],
    [
      'a removed list item',
      [
        'patch',
        'deployment',
        'web',
        '--type=json',
        '-p',
        '[{"op":"remove","path":"/spec/template/spec/containers/0/ports/1"}]',
      ],
      'spec.template.spec.containers[name=app].ports[containerPort=53,protocol=UDP]',
      false,
    ],
  ] as const) {
    it(`names exactly the field that ${who} changed`, async (t) => {
      const { namespace, drift, declared } = await applied(t);
      await kubectl('-n', namespace, ...args);
      const found = await drift();
      assert.ok(found.state === 'drifted', JSON.stringify(found));
      assert.deepEqual(found.paths, [path]);
      assert.deepEqual(
        found.by.map((writer) => writer.isSure),
        [isSure],
      );
      if (isSure) assert.match(found.by[0]?.manager ?? '', /^kubectl/);
      const repaired = await apply(declared, true);
      assert.deepEqual(await drift(), { state: 'none' });
      assert.equal(replicasOf(repaired), 3);
    });
  }
});

describe('replicas that others may change (H11)', () => {
  it('would fall to 1 if they were just left out', async (t) => {
    const { declared } = await applied(t);
    const { replicas: _, ...spec } = declared.spec as Record<string, unknown>;
    assert.equal(replicasOf(await apply({ ...declared, spec })), 1);
  });

  it('stay as they are while only we hold them, and no older value wins over a newer one', async (t) => {
    const { namespace, declared, live } = await applied(t);
    const form = withoutIgnored(declared, await live(), RULES, FIELD_MANAGER);
    assert.ok(form.onlyAgainst !== undefined);
    const pinned = { ...form.object, metadata: { ...form.object.metadata, resourceVersion: form.onlyAgainst } };
    await kubectl('-n', namespace, 'scale', 'deployment/web', '--replicas=7');
    await assert.rejects(apply(pinned, true), { code: 'KubeConflict' });
    assert.equal(replicasOf(await live()), 7);
  });

  it('stay as an autoscaler set them, through apply after apply', async (t) => {
    const { namespace, declared, live } = await applied(t);
    await kubectl('-n', namespace, 'scale', 'deployment/web', '--replicas=6');
    for (let i = 0; i < 2; i++) {
      const form = withoutIgnored(declared, await live(), RULES, FIELD_MANAGER);
      assert.equal(form.onlyAgainst, undefined);
      assert.equal(replicasOf(form.object), undefined);
      assert.equal(replicasOf(await apply(form.object, true)), 6);
    }
  });
});

describe('a plan made with a server-side dry run', () => {
  it('has no changes for what was just applied, and the changed field otherwise', async (t) => {
    const { namespace, declared, live } = await applied(t);
    // Its controller annotates a new Deployment: between the read and the dry run that would be a difference.
    await eventually(async () => assert.ok((await live()).metadata.annotations?.[REVISION] !== undefined));
    const plan = async (desired: KubeObject) => {
      const key = refKey(refOf(desired));
      const labelled = await live();
      const predicted = await testClient().apply(desired, { fieldManager: FIELD_MANAGER, dryRun: true });
      return planObjects({
        plugin: { namespace, name: 'web' },
        desired: [desired],
        live: new Map([[key, labelled]]),
        predicted: new Map([[key, predicted]]),
        record: [{ ...refOf(desired), ...(labelled.metadata.uid === undefined ? {} : { uid: labelled.metadata.uid }) }],
        rules: {
          deletion: { policy: 'delete', crds: 'keep', namespaces: 'keep', volumes: 'keep' },
          adopt: false,
          force: false,
        },
        revisionComplete: true,
      }).objects[0];
    };
    assert.equal((await plan(declared))?.action, 'unchanged');
    const changed = await plan(deployment(namespace, { image: 'app:2' }));
    assert.deepEqual(changed?.action === 'change' && changed.fields, [
      { path: 'spec.template.spec.containers[name=app].image', op: 'replace', old: 'app:1', new: 'app:2' },
    ]);
  });

  it('and one made without give the same answers', async (t) => {
    const { namespace, declared, live } = await applied(t);
    const without = async (desired: KubeObject) => {
      const labelled = await live();
      return planObjects({
        plugin: { namespace, name: 'web' },
        desired: [desired],
        live: new Map([[refKey(refOf(desired)), labelled]]),
        record: [{ ...refOf(desired), ...(labelled.metadata.uid === undefined ? {} : { uid: labelled.metadata.uid }) }],
        rules: {
          deletion: { policy: 'delete', crds: 'keep', namespaces: 'keep', volumes: 'keep' },
          adopt: false,
          force: false,
        },
        revisionComplete: true,
      }).objects[0];
    };
    assert.equal((await without(declared))?.action, 'unchanged');
    const { tier: _, ...labels } = declared.metadata.labels ?? {};
    const changed = await without({
      ...deployment(namespace, { image: 'app:2' }),
      metadata: { ...declared.metadata, labels },
    });
    assert.deepEqual(changed?.action === 'change' && changed.fields, [
      { path: 'spec.template.spec.containers[name=app].image', op: 'replace', old: 'app:1', new: 'app:2' },
      { path: 'metadata.labels.tier', op: 'remove', old: 'front' },
    ]);
  });
});
