import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KubeObject, readAs } from '../api/index.ts';
import { countActions, type ObjectPlan, type PluginPlan } from '../plan/object-plan.ts';
import { toldBeside } from './preview-versions.ts';
import type { Rendered } from './rendered.ts';

function pod(name: string, ...images: string[]): KubeObject {
  const spec = { containers: images.map((image) => ({ image })) };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec };
}

function told(options: {
  before?: { version: string; app?: string };
  after?: { version: string; app?: string };
  objects?: KubeObject[];
  live?: KubeObject[];
  plan?: ObjectPlan[];
}) {
  const revision = options.before === undefined ? {} : { revision: { key: 'k', ...options.before } };
  const plugin = readAs(
    {
      apiVersion: 'espalier.dev/v1alpha1',
      kind: 'Plugin',
      metadata: { name: 'web', namespace: 'web' },
      spec: { kind: 'helm', source: { chart: { repository: 'https://charts.example.com', name: 'web' } } },
      status: revision,
    },
    'Plugin',
  );
  const version = options.after === undefined ? {} : { chart: 'web', ...options.after };
  const rendered = { objects: options.objects ?? [], version } as unknown as Rendered;
  const objects = options.plan ?? [];
  const plan: PluginPlan = {
    plugin: { namespace: 'web', name: 'web' },
    objects,
    gone: [],
    counts: countActions(objects),
    warnings: [],
  };
  return toldBeside(plugin, rendered, plan, options.live ?? []);
}

describe('what a plan tells beside fields', () => {
  it('says which chart and application come after which', () => {
    const { versions } = told({ before: { version: '1.2.0', app: '7.0' }, after: { version: '1.3.0', app: '7.1' } });
    assert.deepEqual(versions, [
      { what: 'chart web', from: '1.2.0', to: '1.3.0' },
      { what: 'app', from: '7.0', to: '7.1' },
    ]);
    assert.deepEqual(told({ before: { version: '1.2.0' }, after: { version: '1.2.0' } }).versions, []);
    assert.deepEqual(told({ after: { version: '1.2.0' } }).versions, [{ what: 'chart web', to: '1.2.0' }]);
  });

  it('warns of a version that goes back', () => {
    const { warnings } = told({ before: { version: '2.0.0' }, after: { version: '1.9.0' } });
    assert.deepEqual(warnings, ['chart web goes back from 2.0.0 to 1.9.0']);
  });

  it('names images that nothing of it runs yet, once', () => {
    const live = [pod('a', 'app:1', 'sidecar:1')];
    assert.deepEqual(told({ objects: [pod('a', 'app:2', 'sidecar:1'), pod('b', 'app:2')], live }).images, ['app:2']);
  });

  it('warns of kinds that go with all their objects, and of what cannot be changed in place', () => {
    const ref = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      name: 'gadgets.example.com',
    };
    const job = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'web', name: 'migrate' };
    const { warnings } = told({
      plan: [
        { key: 'a', ref, action: 'delete', uid: 'u' },
        { key: 'b', ref: job, action: 'refused', message: 'spec.template: Invalid value: field is immutable' },
        { key: 'c', ref: job, action: 'refused', message: 'denied by policy' },
      ],
    });
    assert.equal(warnings.length, 2);
    assert.match(warnings[0] ?? '', /^removes the kind gadgets\.example\.com .*every object/);
    assert.match(warnings[1] ?? '', /^Job migrate can't be changed like this/);
  });
});
