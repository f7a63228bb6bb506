import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../api/index.ts';
import { canonicalJson } from '../api/index.ts';
import { type PathElement, parseElement, printPath, writeElement } from './field-path.ts';
import {
  appliedFields,
  extractFields,
  fieldsFrom,
  hashFields,
  holdsPath,
  pathsOf,
  subtractFields,
  uniteFields,
} from './fields.ts';

const DEPLOYMENT: JsonObject = {
  'f:metadata': { 'f:labels': { 'f:app.kubernetes.io/name': {} } },
  'f:spec': {
    'f:replicas': {},
    'f:template': {
      'f:spec': {
        'f:containers': {
          'k:{"name":"app"}': {
            '.': {},
            'f:name': {},
            'f:image': {},
            'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
          },
        },
      },
    },
  },
};

const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean());
const element: fc.Arbitrary<PathElement> = fc.oneof(
  fc.string().map((field) => ({ field })),
  fc.dictionary(fc.string({ minLength: 1 }), scalar, { minKeys: 1, maxKeys: 2 }).map((key) => ({ key: { ...key } })),
  scalar.map((value) => ({ value })),
  fc.nat(20).map((index) => ({ index })),
);
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const smallPath = fc.array(
  fc.constantFrom('a', 'b', 'c').map((field) => ({ field })),
  { minLength: 1, maxLength: 4 },
);
const smallSet = fc.array(smallPath, { maxLength: 8 });
const keysOf = (fields: JsonObject) => new Set(pathsOf(fields).map(printPath));

describe('paths of managed fields', () => {
  it('print as people write them', () => {
    assert.deepEqual(pathsOf(DEPLOYMENT).map(printPath), [
      'metadata.labels["app.kubernetes.io/name"]',
      'spec.replicas',
      'spec.template.spec.containers[name=app]',
      'spec.template.spec.containers[name=app].name',
      'spec.template.spec.containers[name=app].image',
      'spec.template.spec.containers[name=app].ports[containerPort=80,protocol=TCP]',
      'spec.template.spec.containers[name=app].ports[containerPort=80,protocol=TCP].containerPort',
    ]);
  });

  it('print sets, places and texts that look like something else without doubt', () => {
    assert.equal(printPath([{ field: 'finalizers' }, { value: 'example.com/x' }]), 'finalizers[=example.com/x]');
    assert.equal(printPath([{ field: 'args' }, { index: 2 }]), 'args[2]');
    assert.equal(printPath([{ field: 'a' }, { value: 'true' }]), 'a[="true"]');
    assert.equal(printPath([{ field: 'a' }, { key: { port: '80' } }]), 'a[port="80"]');
  });

  it('keep what they name when written and read again', () => {
    fc.assert(fc.property(element, (one) => assert.deepEqual(parseElement(writeElement(one)), one)));
  });

  it('print differently when they differ', () => {
    fc.assert(
      fc.property(path, path, (a, b) => {
        const same = canonicalJson(a.map(writeElement)) === canonicalJson(b.map(writeElement));
        assert.equal(printPath(a) === printPath(b), same);
      }),
    );
  });

  it('refuse what no API server writes', () => {
    for (const text of ['x:a', 'k:[1]', 'k:{', 'i:-1', '']) assert.throws(() => parseElement(text));
  });
});

describe('sets of fields', () => {
  it('come back from their own paths', () => {
    assert.deepEqual(fieldsFrom(pathsOf(DEPLOYMENT)), DEPLOYMENT);
    fc.assert(
      fc.property(fc.array(path, { maxLength: 6 }), (paths) => {
        const fields = fieldsFrom(paths);
        assert.deepEqual(fieldsFrom(pathsOf(fields)), fields);
        assert.deepEqual(keysOf(fields), new Set(paths.map(printPath)));
      }),
    );
  });

  it('subtract and unite like sets', () => {
    fc.assert(
      fc.property(smallSet, smallSet, (a, b) => {
        const [left, right] = [fieldsFrom(a), fieldsFrom(b)];
        const [inLeft, inRight] = [keysOf(left), keysOf(right)];
        const onlyLeft = new Set([...inLeft].filter((one) => !inRight.has(one)));
        assert.deepEqual(keysOf(subtractFields(left, right)), onlyLeft);
        assert.deepEqual(keysOf(uniteFields(left, right)), new Set([...inLeft, ...inRight]));
      }),
    );
  });

  it('are not changed by field names that mean something to JavaScript', () => {
    const hostile = fieldsFrom([[{ field: '__proto__' }, { field: 'polluted' }], [{ field: 'constructor' }]]);
    assert.deepEqual(keysOf(hostile), new Set(['__proto__.polluted', 'constructor']));
    assert.deepEqual(keysOf(subtractFields(hostile, {})), keysOf(hostile));
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
  });

  it('hold paths that a leaf covers, and paths that something below is of', () => {
    const fields = { 'f:spec': { 'f:tolerations': {}, 'f:template': { 'f:x': {} } } };
    assert.ok(holdsPath(fields, [{ field: 'spec' }, { field: 'tolerations' }, { index: 0 }]));
    assert.ok(holdsPath(fields, [{ field: 'spec' }, { field: 'template' }]));
    assert.ok(!holdsPath(fields, [{ field: 'spec' }, { field: 'replicas' }]));
  });

  it('hash alike whatever the order of their keys, and otherwise not', () => {
    assert.equal(hashFields({ 'f:a': {}, 'f:b': {} }), hashFields({ 'f:b': {}, 'f:a': {} }));
    assert.notEqual(hashFields({ 'f:a': {} }), hashFields({ 'f:b': {} }));
    assert.match(hashFields({}), /^[\w-]{16}$/);
  });

  it('are taken from the apply of the manager itself, not from its updates or its status', () => {
    const entry = { manager: 'espalier', operation: 'Apply' as const, apiVersion: 'v1', fieldsV1: { 'f:a': {} } };
    const managed = [{ ...entry, operation: 'Update' as const }, { ...entry, subresource: 'status' }, entry];
    assert.deepEqual(appliedFields(managed, 'espalier'), { apiVersion: 'v1', fields: { 'f:a': {} } });
    assert.equal(appliedFields(managed.slice(0, 2), 'espalier'), undefined);
    assert.equal(appliedFields(undefined, 'espalier'), undefined);
  });
});

describe('extracting fields', () => {
  const object: JsonObject = {
    metadata: { name: 'web', labels: { 'app.kubernetes.io/name': 'web', other: 'x' } },
    spec: {
      replicas: 2,
      paused: false,
      template: {
        spec: {
          containers: [
            { name: 'side', image: 'side:1' },
            { name: 'app', image: 'app:1', ports: [{ containerPort: 80, protocol: 'UDP' }, { containerPort: 80 }] },
          ],
        },
      },
    },
  };

  it('takes just these, through list keys and defaulted key fields', () => {
    assert.deepEqual(extractFields(object, DEPLOYMENT), {
      metadata: { labels: { 'app.kubernetes.io/name': 'web' } },
      spec: {
        replicas: 2,
        template: {
          spec: { containers: [{ name: 'app', image: 'app:1', ports: [{ containerPort: 80 }] }] },
        },
      },
    });
  });

  it('takes members of sets, and leaves out what the object does not have', () => {
    const fields = { 'f:finalizers': { 'v:"a"': {}, 'v:"c"': {} }, 'f:gone': {} };
    assert.deepEqual(extractFields({ finalizers: ['a', 'b'] }, fields), { finalizers: ['a'] });
  });
});
