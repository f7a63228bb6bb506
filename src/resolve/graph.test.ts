import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { buildGraph, type Graph, type GraphPlugin } from './graph.ts';

const CRD = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: 'x.example.com' };
const CRD_KEY = 'apiextensions.k8s.io/CustomResourceDefinition//x.example.com';

/** `a: 'b c'` is a plugin a of namespace n that depends on b and c. */
function graphOf(needs: Record<string, string>, more: Record<string, Partial<GraphPlugin>> = {}): Graph {
  return buildGraph(
    Object.entries(needs).map(([name, on]) => {
      const dependsOn = on
        .split(' ')
        .filter((one) => one !== '')
        .map((one) => ({ name: one }));
      return { namespace: 'n', name, dependsOn, ...more[name] };
    }),
  );
}

describe('the dependency graph', () => {
  test('orders plugins after what they depend on, by name where either may come first', () => {
    const graph = graphOf({ web: 'certs ingress', ingress: 'certs', certs: '', backup: '' });
    assert.deepEqual(graph.order, ['n/backup', 'n/certs', 'n/ingress', 'n/web']);
    assert.deepEqual(graph.levels, [['n/backup', 'n/certs'], ['n/ingress'], ['n/web']]);
    assert.deepEqual(graph.dependentsOf('n/certs'), ['n/ingress', 'n/web']);
    assert.deepEqual(graph.needsOf('n/web'), ['n/certs', 'n/ingress']);
    assert.equal(graph.refused.size + graph.waiting.size, 0);
  });

  test('a cycle is named as the way around it, seen from each member', () => {
    const { refused } = graphOf({ a: 'b', b: 'c', c: 'a', free: '' });
    assert.deepEqual([...refused.keys()].sort(), ['n/a', 'n/b', 'n/c']);
    assert.deepEqual(refused.get('n/a'), {
      code: 'DependencyCycle',
      message: 'dependsOn goes in a circle: a → b → c → a',
    });
    assert.equal(refused.get('n/c')?.message, 'dependsOn goes in a circle: c → a → b → c');
  });

  test('a plugin that depends on itself is refused', () => {
    assert.equal(graphOf({ a: 'a' }).refused.get('n/a')?.message, 'dependsOn goes in a circle: a → a');
  });

  test('what depends on a cycle waits, and what the cycle depends on goes on', () => {
    const { refused, waiting, order } = graphOf({ a: 'b base', b: 'a', base: '', web: 'a', shop: 'web' });
    assert.deepEqual([...refused.keys()].sort(), ['n/a', 'n/b']);
    assert.equal(waiting.get('n/web'), 'waits for n/a, which is refused');
    assert.equal(waiting.get('n/shop'), 'waits for n/web, which waits itself');
    assert.equal(waiting.has('n/base'), false);
    assert.ok(order.indexOf('n/base') < order.indexOf('n/a') && order.indexOf('n/a') < order.indexOf('n/web'));
  });

  test('a missing name refuses the plugin that has it, and no other', () => {
    const { refused, waiting } = graphOf({ a: 'gone', b: 'a', c: '' });
    assert.deepEqual(
      [...refused],
      [['n/a', { code: 'DependencyMissing', message: 'dependsOn names the Plugin n/gone, which nothing declares' }]],
    );
    assert.deepEqual([...waiting.keys()], ['n/b']);
  });

  test('a name that is in another namespace only is refused with that namespace', () => {
    const graph = buildGraph([
      { namespace: 'n', name: 'a', dependsOn: [{ name: 'b' }] },
      { namespace: 'm', name: 'b' },
      { namespace: 'n', name: 'c', dependsOn: [{ name: 'b', namespace: 'm' }] },
    ]);
    assert.match(graph.refused.get('n/a')?.message ?? '', /there is one in namespace "m": add that namespace/);
    assert.equal(graph.refused.has('n/c'), false);
    assert.deepEqual(graph.dependentsOf('m/b'), ['n/c']);
  });

  test('a plugin of a namespace that the Sync may not use is refused', () => {
    const plugins = [
      { namespace: 'n', name: 'a', dependsOn: [{ name: 'b', namespace: 'secret' }] },
      { namespace: 'secret', name: 'b' },
    ];
    const { refused } = buildGraph(plugins, { mayName: (namespace) => namespace === 'n' });
    assert.match(refused.get('n/a')?.message ?? '', /whose namespace this Sync may not use/);
  });

  test('an object of any kind may be depended on, and wakes who named it', () => {
    const graph = graphOf(
      { a: '' },
      { a: { dependsOn: [CRD, { kind: 'Secret', apiVersion: 'v1', name: 's', namespace: 'x' }] } },
    );
    assert.equal(graph.refused.size, 0);
    assert.deepEqual(graph.dependentsOf(CRD_KEY), ['n/a']);
    assert.deepEqual(graph.needsOf('n/a'), [CRD_KEY, '/Secret/x/s']);
  });

  test('every object of a kind may be depended on, which is no fault and orders nothing', () => {
    const all = { apiVersion: 'v1', kind: 'Node', all: true };
    const graph = graphOf({ a: '', z: '' }, { a: { dependsOn: [all] } });
    assert.deepEqual([graph.refused.size, graph.order], [0, ['n/a', 'n/z']]);
  });

  test('who depends on an object comes after the plugin that makes it', () => {
    const graph = graphOf({ a: '', z: '' }, { a: { dependsOn: [CRD] }, z: { provides: [CRD] } });
    assert.deepEqual(graph.order, ['n/z', 'n/a']);
  });

  test('a cycle through an object is named with the object in it', () => {
    const { refused } = graphOf(
      { a: '', z: 'a' },
      { a: { dependsOn: [CRD] }, z: { dependsOn: [{ name: 'a' }], provides: [CRD] } },
    );
    assert.equal(
      refused.get('n/a')?.message,
      'dependsOn goes in a circle: a → CustomResourceDefinition x.example.com → z → a',
    );
  });

  test('a Plugin may be named as an object of its kind too', () => {
    const graph = graphOf(
      { a: '', b: '' },
      { a: { dependsOn: [{ apiVersion: 'espalier.dev/v1alpha1', kind: 'Plugin', name: 'b' }] } },
    );
    assert.deepEqual(graph.needsOf('n/a'), ['n/b']);
  });

  test('who depends on an inactive plugin waits and says why', () => {
    const { waiting } = graphOf({ a: 'b', b: '' }, { b: { inactive: 'it is disabled' } });
    assert.equal(waiting.get('n/a'), 'waits for n/b: it is disabled');
  });

  test('a chain of ten thousand and a circle of five thousand end within a second', () => {
    const chain: Record<string, string> = {};
    for (let index = 0; index < 10_000; index += 1) chain[`p${index}`] = index === 0 ? '' : `p${index - 1}`;
    for (let index = 0; index < 5_000; index += 1) chain[`c${index}`] = `c${(index + 1) % 5_000}`;
    const started = process.cpuUsage().user;
    const graph = graphOf(chain);
    assert.ok(process.cpuUsage().user - started < 1_000_000);
    assert.equal(graph.levels.length, 10_000);
    assert.equal(graph.refused.size, 5_000);
    assert.ok((graph.refused.get('n/c0')?.message.length ?? 0) < 200);
  });

  test('whatever the edges are, the order respects each that is not part of a circle', () => {
    const plugins = fc.array(fc.array(fc.nat(14), { maxLength: 4 }), { minLength: 1, maxLength: 15 });
    fc.assert(
      fc.property(plugins, (needs) => {
        const names = needs.map((_, index) => `p${index}`);
        const graph = graphOf(
          Object.fromEntries(needs.map((on, index) => [`p${index}`, on.map((one) => `p${one}`).join(' ')])),
        );
        assert.deepEqual([...graph.order].sort(), names.map((name) => `n/${name}`).sort());
        assert.deepEqual(graph.levels.flat(), graph.order);
        for (const key of graph.order) {
          for (const need of graph.needsOf(key)) {
            const bothInCircle = [key, need].every((one) => graph.refused.get(one)?.code === 'DependencyCycle');
            if (!bothInCircle) assert.ok(graph.order.indexOf(need) < graph.order.indexOf(key));
          }
          const isSound = !graph.refused.has(key) && !graph.waiting.has(key);
          const needsAreSound = graph
            .needsOf(key)
            .every((need) => !graph.refused.has(need) && !graph.waiting.has(need));
          if (!graph.refused.has(key)) assert.equal(isSound, needsAreSound);
        }
      }),
    );
  });
});
