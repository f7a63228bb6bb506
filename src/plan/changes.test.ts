import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject, KubeObject } from '../api/index.ts';
import { abandonedFields } from './abandoned.ts';
import { changesBetween, changesFromDeclared, declarable } from './changes.ts';
import { isEqual } from './json.ts';

const object = (rest: JsonObject): KubeObject => ({ apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, ...rest });
const between = (old: JsonObject, now: JsonObject) => changesBetween(object(old), object(now));
const declared = (live: JsonObject, said: JsonObject) => changesFromDeclared(object(live), object(said));
const pod = (...containers: JsonObject[]): JsonObject => ({ spec: { containers } });

describe('changes between two states', () => {
  it('are none for what only the API server writes', () => {
    const live = object({ status: { phase: 'x' }, data: { a: '1' } });
    live.metadata = {
      ...live.metadata,
      uid: 'u',
      resourceVersion: '1',
      generation: 3,
      creationTimestamp: 't',
      managedFields: [{ manager: 'x' }],
    };
    assert.deepEqual(changesBetween(live, object({ data: { a: '1' } })), []);
  });

  it('say field by field what was added, removed and replaced', () => {
    assert.deepEqual(between({ data: { a: '1', b: '2' } }, { data: { b: '3', c: { d: 1 } } }), [
      { path: 'data.a', op: 'remove', old: '1' },
      { path: 'data.b', op: 'replace', old: '2', new: '3' },
      { path: 'data.c', op: 'add', new: { d: 1 } },
    ]);
  });

  it('tell list items by their key, so that an insertion is one change', () => {
    const before = pod({ name: 'app', image: 'app:1' });
    const after = pod({ name: 'side', image: 's' }, { name: 'app', image: 'app:2' });
    assert.deepEqual(between(before, after), [
      { path: 'spec.containers[name=side]', op: 'add', new: { name: 'side', image: 's' } },
      { path: 'spec.containers[name=app].image', op: 'replace', old: 'app:1', new: 'app:2' },
    ]);
  });

  it('tell ports by number and protocol, with TCP where none is said', () => {
    const ports = (...list: JsonObject[]) => pod({ name: 'a', ports: list });
    assert.deepEqual(
      between(
        ports({ containerPort: 53, protocol: 'UDP', name: 'd' }, { containerPort: 53, name: 't' }),
        ports({ containerPort: 53, name: 't' }, { containerPort: 53, protocol: 'UDP', name: 'e' }),
      ).map((change) => change.path),
      ['spec.containers[name=a].ports[containerPort=53,protocol=UDP].name', 'spec.containers[name=a].ports (order)'],
    );
  });

  it('say when nothing but the order changed, as it matters for environment variables', () => {
    const env = (...names: string[]) => ({ env: names.map((name) => ({ name })) });
    assert.deepEqual(between(env('a', 'b'), env('b', 'a')), [
      { path: 'env (order)', op: 'replace', old: ['[name=a]', '[name=b]'], new: ['[name=b]', '[name=a]'] },
    ]);
  });

  it('line up items without a key', () => {
    const rules = (...verbs: string[]) => ({ rules: verbs.map((verb) => ({ verbs: [verb] })) });
    assert.deepEqual(between(rules('get', 'list'), rules('watch', 'get', 'list')), [
      { path: 'rules[0]', op: 'add', new: { verbs: ['watch'] } },
    ]);
    assert.deepEqual(between(rules('get', 'list', 'x'), rules('get', 'watch')), [
      { path: 'rules[1].verbs', op: 'replace', old: ['list'], new: ['watch'] },
      { path: 'rules[2]', op: 'remove', old: { verbs: ['x'] } },
    ]);
  });

  it('show lists of plain values whole', () => {
    assert.deepEqual(between({ args: ['a'] }, { args: ['a', 'b'] }), [
      { path: 'args', op: 'replace', old: ['a'], new: ['a', 'b'] },
    ]);
  });

  it('see fields that are called like parts of JavaScript', () => {
    const hostile = JSON.parse('{"data": {"__proto__": "x", "constructor": "y"}}') as JsonObject;
    assert.deepEqual(
      between({ data: {} }, hostile).map((change) => change.path),
      ['data.__proto__', 'data.constructor'],
    );
  });

  const json = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Json>('a', 'b', 1, 2, true, null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('name', 'key', 'a', 'ports'), tie('value'), { maxKeys: 3 }).map((o) => ({ ...o })),
    ),
  })).value;

  it('are some exactly when the states differ', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        assert.equal(between({ data: a }, { data: b }).length === 0, isEqual(a, b));
      }),
    );
  });

  it('are the same changes the other way round', () => {
    const flip = { add: 'remove', remove: 'add', replace: 'replace' } as const;
    fc.assert(
      fc.property(json, json, (a, b) => {
        const [there, back] = [between({ data: a }, { data: b }), between({ data: b }, { data: a })];
        const count = (op: keyof typeof flip, changes: typeof there) => changes.filter((one) => one.op === op).length;
        assert.deepEqual(there.length, back.length);
        for (const op of ['add', 'remove', 'replace'] as const) assert.equal(count(op, there), count(flip[op], back));
      }),
    );
  });
});

describe('changes from what is declared', () => {
  it('leave out defaults and the fields of others', () => {
    const live = pod({
      name: 'app',
      image: 'a',
      imagePullPolicy: 'Always',
      ports: [{ containerPort: 80, protocol: 'TCP' }],
    });
    assert.deepEqual(
      declared({ ...live, extra: 1 }, pod({ name: 'app', image: 'a', ports: [{ containerPort: 80 }] })),
      [],
    );
  });

  it('leave out items that others added', () => {
    assert.deepEqual(declared(pod({ name: 'app' }, { name: 'injected' }), pod({ name: 'app' })), []);
  });

  it('leave out defaults in items without a key', () => {
    const live = { spec: { ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80, protocol: 'TCP' }] }] } };
    assert.deepEqual(
      declared(live, { spec: { ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }] } }),
      [],
    );
  });

  it('take nothing, null and empty for the same', () => {
    assert.deepEqual(declared({ spec: {} }, { spec: { a: null, b: {}, c: [] } }), []);
  });

  it('find what is declared otherwise', () => {
    assert.deepEqual(declared(pod({ name: 'app', image: 'a' }), pod({ name: 'app', image: 'b' })), [
      { path: 'spec.containers[name=app].image', op: 'replace', old: 'a', new: 'b' },
    ]);
  });

  it('find nothing in what was taken from the live object itself', () => {
    fc.assert(
      fc.property(fc.object({ maxDepth: 3 }), (data) => {
        const live = JSON.parse(JSON.stringify(data)) as JsonObject;
        assert.deepEqual(declared({ data: live, more: 1 }, { data: live }), []);
      }),
    );
  });
});

describe('fields that are no longer declared', () => {
  const live: KubeObject = {
    ...object({ data: { a: '1', b: '2', c: '3' } }),
    metadata: {
      name: 'x',
      managedFields: [
        { manager: 'espalier', operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {}, 'f:b': {}, 'f:c': {} } } },
        { manager: 'other', operation: 'Update', fieldsV1: { 'f:data': { 'f:b': {} } } },
      ],
    },
  };

  it('are removed, except where another manager holds them too', () => {
    assert.deepEqual(abandonedFields(live, object({ data: { a: '1' } }), 'espalier'), [
      { path: 'data.c', op: 'remove', old: '3' },
    ]);
  });

  it('are none of those that somebody else removed already', () => {
    const without = { ...live, data: { a: '1', b: '2' } };
    assert.deepEqual(abandonedFields(without, object({ data: { a: '1' } }), 'espalier'), []);
  });
});

it('the declarable part of an object has neither status nor what the server keeps', () => {
  assert.deepEqual(declarable({ ...object({ status: {} }), metadata: { name: 'x', uid: 'u', labels: {} } }), {
    apiVersion: 'v1',
    kind: 'X',
    metadata: { name: 'x', labels: {} },
  });
});
