import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { KubeObject } from '../api/index.ts';
import { changesBetween } from './changes.ts';
import { createMasker } from './mask.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const secret = (data: Record<string, string>, rest: Partial<KubeObject> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', namespace: 'web' },
  data,
  ...rest,
});

describe('masking', () => {
  it('makes different values of a Secret look different and equal ones equal', () => {
    const masker = createMasker();
    const before = masker.mask(secret({ changed: base64('one'), same: base64('x') }));
    const after = masker.mask(secret({ changed: base64('two'), same: base64('x') }));
    assert.deepEqual(changesBetween(before, after), [
      { path: 'data.changed', op: 'replace', old: '••• (1)', new: '••• (2)' },
    ]);
  });

  it('shows neither lengths nor which values are equal in different places', () => {
    const masked = createMasker().mask(secret({ a: base64('x'), b: base64('x'.repeat(500)), c: base64('x') }));
    assert.deepEqual(masked.data, { a: '••• (1)', b: '••• (1)', c: '••• (1)' });
  });

  it('takes stringData for what the API server makes of it', () => {
    const masker = createMasker();
    const live = masker.mask(secret({ password: base64('hünter2') }));
    assert.deepEqual(changesBetween(live, masker.mask(secret({}, { stringData: { password: 'hünter2' } }))), []);
  });

  it('hides what kubectl apply left of a Secret, in whatever object', () => {
    const metadata = {
      name: 'c',
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"a":"canary"}}', other: 'seen' },
    };
    const masked = createMasker().mask({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    assert.deepEqual(masked.metadata.annotations, {
      'kubectl.kubernetes.io/last-applied-configuration': '••• (1)',
      other: 'seen',
    });
  });

  it('hides the marked parts of other kinds', () => {
    const masker = createMasker({ kinds: [{ group: 'x.io', kind: 'Login', paths: ['/spec/users/*/password'] }] });
    const login = { apiVersion: 'x.io/v1', kind: 'Login', metadata: { name: 'l' } };
    const masked = masker.mask({ ...login, spec: { users: [{ name: 'a', password: 'canary' }] } });
    assert.deepEqual(masked.spec, { users: [{ name: 'a', password: '••• (1)' }] });
    const other = { ...login, apiVersion: 'y.io/v1', spec: { users: [{ password: 'seen' }] } };
    assert.deepEqual(masker.mask(other).spec, other.spec);
  });

  it('hides known values wherever they turn up, also encoded', () => {
    const masker = createMasker({ values: ['canary-1', 'abc'] });
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } };
    const data = { url: 'http://u:canary-1@x', enc: base64('canary-1'), exact: 'abc', part: 'xabcx', ok: 'fine' };
    assert.deepEqual(masker.mask({ ...object, data }).data, {
      url: '••• (1)',
      enc: '••• (1)',
      exact: '••• (1)',
      part: 'xabcx',
      ok: 'fine',
    });
  });

  it('leaves no value of any Secret in its JSON', () => {
    const text = fc.string({ minLength: 5 }).map((one) => `canary${one}`);
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), text), (values) => {
        const masked = JSON.stringify(createMasker().mask(secret({}, { stringData: values })));
        for (const value of Object.values(values)) {
          assert.ok(!masked.includes(value) && !masked.includes(base64(value)) && !masked.includes('canary'));
        }
      }),
    );
  });

  it('does not change the object that it was given', () => {
    const object = secret({ a: base64('x') });
    createMasker().mask(object);
    assert.deepEqual(object, secret({ a: base64('x') }));
  });
});

describe('scrubbing a message about a Secret', () => {
  const object = secret(
    { key: base64('canary-value'), bad: 'not base64 canary' },
    { stringData: { more: 'line\nkey-line-0123456789' } },
  );

  for (const message of [
    'data[key]: Invalid value: "canary-value": too long',
    `illegal base64 data in ${base64('canary-value')}`,
    'cannot unmarshal "not base64 canary"',
    'webhook denied: canary-value is weak; key-line-0123456789 as well',
    'data[key]: Unsupported value: "line\\ncanary": no',
  ]) {
    it(`hides the value in: ${message.slice(0, 40)}`, () => {
      const text = createMasker().scrub(message, object);
      assert.ok(!/canary|key-line/.test(text) && !text.includes(base64('canary-value')), text);
      assert.match(text, /•••/);
    });
  }

  it('leaves the reason readable', () => {
    const message = 'Secret "s" is invalid: type: Invalid value: "Opaque": field is immutable';
    assert.equal(
      createMasker().scrub(message, object),
      'Secret "s" is invalid: type: Invalid value: •••: field is immutable',
    );
  });

  it('leaves messages about other kinds as they are', () => {
    const message = 'spec.replicas: Invalid value: -1: must be greater than or equal to 0';
    assert.equal(createMasker().scrub(message, { ...object, kind: 'Deployment', data: {} }), message);
  });
});
