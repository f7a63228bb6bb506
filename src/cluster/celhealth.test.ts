import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../api/index.ts';
import { celFault, celHealth } from './celhealth.ts';

const object: KubeObject = {
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'a', generation: 3 },
  spec: { replicas: 2 },
  status: {
    ready: 2,
    share: 0.5,
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True' }],
    many: Array.from({ length: 3_000 }, (_, i) => i),
  },
};

for (const [expression, state, message] of [
  [`status.conditions.exists(c, c.type=='Ready' && c.status=='True')`, 'healthy', /holds/],
  [`status.phase == 'Stopped'`, 'progressing', /does not hold yet/],
  [`status.ready + 1 == 3 && status.share > 0.1`, 'healthy', /holds/],
  [`self.kind == 'Thing' && spec.replicas == status.ready && metadata.generation == 3`, 'healthy', /holds/],
  [`status.notYet == 'x'`, 'progressing', /not reported yet: No such key: notYet/],
  [`status.conditions[4].status == 'True'`, 'progressing', /not reported yet/],
  [`has(status.notYet)`, 'progressing', /does not hold yet/],
  [`status.?notYet.orValue('x') == 'x'`, 'healthy', /holds/],
  [`status.phase`, 'unknown', /gives string/],
  [`status.phase + 1 == 2`, 'unknown', /failed: no such overload/],
  [`status.phase ==`, 'unknown', /is wrong: Unexpected token/],
  [`nothing == 1`, 'unknown', /is wrong: Unknown variable: nothing/],
  [`self.constructor == 1 || self.__proto__ == 1`, 'progressing', /not reported yet/],
] as const) {
  test(`${expression} is ${state}`, () => {
    const health = celHealth(object, expression);
    assert.equal(health.state, state, health.message);
    assert.match(health.message, message);
  });
}

test('an object without a status is progressing', () => {
  const { status: _, ...fresh } = object;
  assert.equal(celHealth(fresh, `status.phase == 'Running'`).state, 'progressing');
});

for (const expression of [
  `'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'.matches('(a+)+$')`,
  'status.many.all(a, status.many.all(b, status.many.all(c, a + b + c >= 0)))',
]) {
  test(`${expression.slice(0, 40)}… is stopped, rests after a few tries, and is tried again`, (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 0 });
    const tries = Array.from({ length: 5 }, () => celHealth(object, expression));
    assert.deepEqual(
      tries.map(({ state, message }) => [state, / (took longer than|takes too long)/.exec(message)?.[1]]),
      [...Array(3).fill(['unknown', 'took longer than']), ...Array(2).fill(['unknown', 'takes too long'])],
    );
    t.mock.timers.tick(11 * 60_000);
    assert.match(celHealth(object, expression).message, /took longer than/);
    assert.match(celHealth(object, expression).message, /takes too long/);
  });
}

test('a wrong expression is known before there is an object', () => {
  assert.match(celFault('1 +') ?? '', /Unexpected token/);
  assert.equal(celFault(`status.phase == 'x'`), undefined);
});
