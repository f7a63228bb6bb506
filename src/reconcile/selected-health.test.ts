import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '../api/index.ts';
import { SelectedHealth } from './selected-health.ts';

function node(name: string, ready: boolean): KubeObject {
  const condition = { type: 'Ready', status: ready ? 'True' : 'False', reason: 'Kubelet', message: `${name} said so` };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { conditions: [condition] } };
}

describe('the health of a selection', () => {
  test('is good when there is an object and all are healthy', () => {
    const health = new SelectedHealth();
    assert.equal(health.whyNot(), 'there is none');
    health.change('added', node('a', true));
    assert.equal(health.whyNot(), undefined);
    health.change('deleted', node('a', true));
    assert.equal(health.whyNot(), 'there is none');
  });

  test('names the one that was not healthy first, and how many more there are', () => {
    const health = new SelectedHealth();
    for (const name of ['a', 'b', 'c']) health.change('added', node(name, name === 'a'));
    assert.match(health.whyNot() ?? '', /^b: .*b said so.* \(and 1 more\)$/);
    health.change('modified', node('b', true));
    assert.match(health.whyNot() ?? '', /^c: .*c said so[^(]*$/);
    health.change('deleted', node('c', false));
    assert.equal(health.whyNot(), undefined);
    health.change('modified', node('a', false));
    assert.match(health.whyNot() ?? '', /^a: /);
  });

  test('follows an expression where there is one', () => {
    const health = new SelectedHealth("data.phase == 'done'");
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } };
    health.change('added', { ...object, data: { phase: 'half' } });
    assert.match(health.whyNot() ?? '', /^x: its health expression does not hold yet/);
    health.change('modified', { ...object, data: { phase: 'done' } });
    assert.equal(health.whyNot(), undefined);
  });
});
