import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ManagedFieldsEntry } from '../api/index.ts';
import { withoutDeployers } from './deployers.ts';

const entry = (manager: string, operation: 'Apply' | 'Update' = 'Apply', subresource?: string): ManagedFieldsEntry => ({
  manager,
  operation,
  ...(subresource === undefined ? {} : { subresource }),
});

test('who installed an object before us leaves it; people, controllers and statuses stay', () => {
  const stay = [
    entry('espalier'),
    entry('kube-controller-manager', 'Update', 'status'),
    entry('helm-controller', 'Update', 'status'),
    entry('kubectl-edit', 'Update'),
    entry('cert-manager-cainjector', 'Update'),
  ];
  const leave = [entry('kustomize-controller'), entry('argocd-controller', 'Update'), entry('helm', 'Update')];
  assert.deepEqual(withoutDeployers([...leave, ...stay], 'espalier'), stay);
});

test('Helm makes way to Helm only where it applied in another way', () => {
  assert.equal(withoutDeployers([entry('helm')], 'helm'), undefined);
  assert.deepEqual(withoutDeployers([entry('helm'), entry('helm', 'Update')], 'helm'), [entry('helm')]);
});

test('nobody is removed from an object that we did not apply', () => {
  assert.equal(withoutDeployers([entry('kustomize-controller')], 'espalier'), undefined);
  assert.equal(withoutDeployers(undefined, 'espalier'), undefined);
});
