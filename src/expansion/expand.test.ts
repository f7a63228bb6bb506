import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { API_VERSION, type KubeObject, LABEL, type Plugin, readAs, type Source } from '../api/index.ts';
import { type ExpandInput, expandPackage } from './expand.ts';
import { expandStep } from './expand-step.ts';
import { type Expansion, emptyExpansion } from './format.ts';
import type { HookName, PackageHook, ReadPackage } from './read-package.ts';

function plugin(spec: Record<string, unknown> = {}, name = 'demo'): Plugin {
  const source = { git: { path: 'packages/demo' } };
  return readAs(
    {
      ...{ apiVersion: API_VERSION, kind: 'Plugin', metadata: { name, namespace: 'sys' } },
      spec: { kind: 'expansion', source, ...spec },
    },
    'Plugin',
  );
}

function read(
  fields: Partial<Expansion> = {},
  hooks: readonly HookName[] = [],
  charts: readonly string[] = [],
): ReadPackage {
  const hook = (path: string): PackageHook => ({ path, script: Buffer.from('#!/bin/sh\n'), isTemplate: false });
  return {
    id: 'git:0123456789abcdef',
    expansion: { ...emptyExpansion(), expansion_name: 'demo', expansion_version: 'v1.0', ...fields },
    charts: charts.map((name) => ({ file: `charts/${name}-1.0.0.tgz`, name, version: '1.0.0' })),
    hooks: new Map(hooks.map((name) => [name, hook(`hooks/${name}`)])),
    faults: [],
    at: () => ({ line: 1, column: 1 }),
  };
}

const sources: ExpandInput['sources'] = {
  package: { git: { path: 'packages/demo' } } as Source,
  chart: (file) => ({ git: { path: `packages/demo/${file}` } }) as Source,
  catalogue: (file) => ({ git: { path: `packages/demo/${file}`, tree: 'ab' } }) as Source,
};

function expand(found: ReadPackage, more: Partial<ExpandInput> = {}) {
  const objects = expandPackage({ plugin: plugin(), package: found, values: {}, hasSecrets: false, sources, ...more });
  const named = (kind: string, name: string) =>
    objects.find((one) => one.kind === kind && one.metadata.name === name) as
      | (KubeObject & { spec: Record<string, unknown>; stringData?: Record<string, string> })
      | undefined;
  const plugins = objects.filter(({ kind }) => kind === 'Plugin').map(({ metadata }) => metadata.name);
  return { objects, named, plugins, needs: (name: string) => JSON.stringify(named('Plugin', name)?.spec.dependsOn) };
}

describe('an expansion package becomes Plugins', () => {
  test('one a chart, one a hook, one for the operator, each after what it needs', () => {
    const { plugins, needs } = expand(
      read({ operator: 'demo/op:v1' }, ['pre-install', 'post-install', 'post-cluster-ready'], ['web', 'db']),
    );
    assert.deepEqual(plugins.toSorted(), [
      ...['demo-db', 'demo-operator', 'demo-post-cluster-ready', 'demo-post-install', 'demo-pre-install', 'demo-web'],
    ]);
    assert.equal(needs('demo-pre-install'), undefined);
    assert.equal(needs('demo-operator'), '[{"name":"demo-pre-install"}]');
    assert.equal(needs('demo-web'), '[{"name":"demo-pre-install"},{"name":"demo-operator"}]');
    assert.match(needs('demo-post-install') ?? '', /\{"name":"demo-web"\},\{"name":"demo-db"\}\]$/);
    assert.equal(
      needs('demo-post-cluster-ready'),
      '[{"name":"demo-post-install"},{"apiVersion":"v1","kind":"Node","all":true}]',
    );
  });

  test('whose post-install waits for pre-install and the operator of its version too, where no chart changes', () => {
    const { needs } = expand(read({ operator: 'demo/op:v1' }, ['pre-install', 'post-install'], ['web']));
    const before = '[{"name":"demo-pre-install"},{"name":"demo-operator"},{"name":"demo-web"}]';
    assert.equal(needs('demo-post-install'), before);
  });

  test('and nothing for what it does not have; without charts the last hooks follow the first parts', () => {
    assert.deepEqual(expand(read()).objects, []);
    const { plugins, needs } = expand(read({}, ['pre-install', 'post-install']));
    assert.deepEqual(plugins, ['demo-pre-install', 'demo-post-install']);
    assert.equal(needs('demo-post-install'), '[{"name":"demo-pre-install"}]');
  });

  test('whose charts wait at a gate for each delegated condition, on a record of the version or on the object that is named', () => {
    const found = read({ operator: 'demo/op:v1', create_cluster_delegate_conditions: ['EnsureKubelet'] }, [], ['web']);
    assert.deepEqual(expand(found).named('Plugin', 'demo-web')?.spec.gates, [
      {
        ...{ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'sys', name: 'demo-delegated-v1.0' },
        ...{ condition: 'EnsureKubelet', by: 'operator demo-operator', timeout: '5m' },
      },
    ]);
    const conditionsOn = { apiVersion: 'platform.tkestack.io/v1', kind: 'Cluster', name: 'global' };
    const on = expand(found, { plugin: plugin({ expansion: { conditionsOn }, timeout: '12m' }) });
    assert.deepEqual(on.named('Plugin', 'demo-web')?.spec.gates, [
      { ...conditionsOn, condition: 'EnsureKubelet', by: 'operator demo-operator', timeout: '12m' },
    ]);
  });

  test('whose charts get the values under their names, in a Secret where some are secret', () => {
    const values = { web: { replicas: 2 }, global: { tier: 'gold' }, other: 1 };
    const open = expand(read({}, [], ['web', 'db']), { values });
    assert.deepEqual(open.named('Plugin', 'demo-web')?.spec.values, { replicas: 2, global: { tier: 'gold' } });
    const secret = expand(read({}, [], ['web']), { values, hasSecrets: true });
    assert.equal(secret.named('Plugin', 'demo-web')?.spec.values, undefined);
    assert.deepEqual(secret.named('Plugin', 'demo-web')?.spec.valuesFrom, [
      { kind: 'Secret', name: 'demo-web-values', key: 'values.yaml' },
    ]);
    assert.equal(
      secret.named('Secret', 'demo-web-values')?.stringData?.['values.yaml'],
      '{"replicas":2,"global":{"tier":"gold"}}',
    );
  });

  test('that go where it goes, with its rules, under names that Kubernetes and Helm take', () => {
    const name = `a${'b'.repeat(60)}`;
    const namespace = { name: 'apps', create: true };
    const { objects } = expand(read({ expansion_version: 'V1_0' }, ['pre-install'], ['Web_App']), {
      plugin: plugin({ namespace, timeout: '7m', apply: { adopt: true } }, name),
    });
    for (const { kind, metadata, spec } of objects) {
      assert.match(metadata.name, /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/);
      assert.equal(metadata.labels?.[LABEL.expansion], name);
      if (kind !== 'Plugin') continue;
      assert.ok(metadata.name.length <= 63);
      assert.equal(metadata.namespace, 'sys');
      const { drift, ...said } = spec as Record<string, unknown>;
      assert.deepEqual([said.namespace, said.timeout, drift], [namespace, '7m', undefined]);
      assert.deepEqual(said.apply, { adopt: true, force: false });
    }
    assert.ok((objects.find(({ spec }) => (spec as Plugin['spec']).kind === 'helm')?.metadata.name.length ?? 99) <= 53);
  });

  test('that are never two of one name, whatever a chart is called', () => {
    const { plugins } = expand(read({ operator: 'demo/op:v1' }, ['pre-install'], ['operator', 'pre-install']));
    assert.equal(new Set(plugins).size, 4, plugins.join(' '));
  });

  test('and entries of the catalogue that mean the very content', () => {
    const entry = expand(read({}, [], ['web'])).named('Extension', 'demo-web');
    assert.deepEqual(entry?.spec.versions, [
      { app: '1.0.0', source: { git: { path: 'packages/demo/charts/web-1.0.0.tgz', tree: 'ab' } } },
    ]);
  });
});

describe('a step of an expansion package', () => {
  const step = (name: 'pre-install' | 'operator', found: ReadPackage, spec: Record<string, unknown> = {}) => {
    const part = plugin({ step: name, ...spec }, `demo-${name}`);
    part.metadata.labels = { [LABEL.expansion]: 'demo' };
    return expandStep({
      ...{ plugin: part, step: name, package: found, values: {}, hasSecrets: false },
      script: found.hooks.get('pre-install')?.script,
    });
  };
  const shown = (objects: readonly KubeObject[]) => objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

  test('that is a hook runs once for the version, by its own account, and may edit its namespace', () => {
    const objects = step('pre-install', read({ images: ['demo/alpine:3.10'] }, ['pre-install']));
    assert.deepEqual(shown(objects), [
      ...['ServiceAccount demo-pre-install', 'RoleBinding demo-pre-install'],
      ...['ConfigMap demo-pre-install-v1-0', 'Job demo-pre-install-v1-0'],
    ]);
    const job = objects.at(-1);
    assert.deepEqual(job?.metadata.annotations, { 'espalier.dev/once': 'demo-v1.0' });
    // It is the pod that has a deadline: that of a Job deletes the pod, and with it the log.
    assert.match(JSON.stringify(job?.spec), /^\{"backoffLimit":0,"template":.*"activeDeadlineSeconds":300/);
    assert.match(
      JSON.stringify(job?.spec),
      /"image":"demo\/alpine:3.10","command":\["\/espalier\/hooks\/pre-install"\]/,
    );
  });

  test('that is a hook tells one script from another, and of secret values nothing', () => {
    const found = read({}, ['pre-install']);
    const job = (script: string, hasSecrets: boolean) => {
      const part = { plugin: plugin({ step: 'pre-install' }, 'demo-pre-install'), package: found, values: {} };
      return expandStep({ ...part, step: 'pre-install', script: Buffer.from(script), hasSecrets }).at(-1)?.spec;
    };
    assert.notDeepEqual(job('#!/bin/sh\nfalse\n', false), job('#!/bin/sh\ntrue\n', false));
    assert.deepEqual(job('#!/bin/sh\necho 1234\n', true), job('#!/bin/sh\necho 5678\n', true));
  });

  test('of a package without a version runs once for its content', () => {
    const { expansion_version: _, ...fields } = read().expansion;
    const objects = step('pre-install', { ...read({}, ['pre-install']), expansion: fields });
    assert.equal(objects.at(-1)?.metadata.name, 'demo-pre-install-0123456789');
  });

  test('that is the operator writes its record and nothing else, unless the owner gives it a ClusterRole', () => {
    const found = read({ operator: 'demo/op:v1', create_cluster_delegate_conditions: ['EnsureKubelet'] });
    const objects = step('operator', found);
    assert.deepEqual(shown(objects), [
      ...['ServiceAccount demo-operator', 'Role demo-operator', 'RoleBinding demo-operator'],
      ...['ConfigMap demo-delegated-v1.0', 'Deployment demo-operator'],
    ]);
    const rules = JSON.stringify(objects.find(({ kind }) => kind === 'Role')?.rules);
    assert.match(rules, /"resourceNames":\["demo-delegated-v1.0"\],"verbs":\["patch"\]/);
    const handover = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'other', name: 'handover' };
    const there = step('operator', found, { expansion: { conditionsOn: handover } });
    const place = { apiGroups: [''], resourceNames: ['handover'], resources: ['configmaps'] };
    assert.deepEqual(
      there.find(({ kind, metadata }) => kind === 'Role' && metadata.namespace === 'other')?.rules,
      [
        { ...place, verbs: ['get', 'list', 'watch'] },
        { ...place, verbs: ['patch'] },
      ],
      'no Secret of that name',
    );
    const conditionsOn = { apiVersion: 'platform.tkestack.io/v1', kind: 'Cluster', name: 'global' };
    const more = shown(step('operator', found, { expansion: { conditionsOn, clusterRole: 'expansions' } }));
    assert.deepEqual(
      more.filter((one) => one.startsWith('Cluster')),
      [
        'ClusterRoleBinding espalier-sys-demo-operator-expansions',
        'ClusterRole espalier-sys-demo-operator',
        'ClusterRoleBinding espalier-sys-demo-operator',
      ],
    );
  });

  test('without an operator of the package is the record alone', () => {
    const found = read({ create_cluster_delegate_conditions: ['EnsureKubelet'] });
    assert.deepEqual(shown(step('operator', found)), ['ConfigMap demo-delegated-v1.0']);
  });
});
