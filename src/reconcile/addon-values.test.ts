import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Plugin } from '../api/index.ts';
import { demandAddonValues } from './addon-values.ts';
import type { Facts } from './facts.ts';
import { textsIn } from './hide-secrets.ts';

test('an add-on without a value that its schema requires is refused, with what to do', () => {
  const schema = { properties: { ip: { type: 'string' } }, required: ['ip'] };
  const plugin = { metadata: { name: 'vip' }, spec: { schema } } as unknown as Plugin;
  const facts = { values: { zone: 'eu' } } as unknown as Facts;
  const refuse = (values: Plugin['spec']['values']) =>
    demandAddonValues(plugin, facts, { state: 'known', key: '', secrets: [], values: values ?? {} });
  assert.throws(() => refuse({ zone: 'eu' }), {
    code: 'ValuesRefused',
    message:
      'parameter ip is missing, expected text: set it in spec.values of Plugin vip, or under parameters in its addon.yaml',
  });
  refuse({ zone: 'eu', ip: 'a' });
});

test('what a Secret gives is in no message, however long it is and wherever it lies', () => {
  const token = 'canary-'.repeat(20);
  const properties = { token: { type: 'integer' }, list: { items: { type: 'string' } }, size: { type: 'string' } };
  const valuesFrom = [
    { kind: 'Secret', name: 'pw' },
    { kind: 'ConfigMap', name: 'settings' },
  ];
  const plugin = { metadata: { name: 'vip' }, spec: { schema: { properties }, valuesFrom } } as unknown as Plugin;
  const values = { token, list: [123456], size: 7 };
  const inputs = { state: 'known', key: '', secrets: textsIn({ token, list: [123456] }), values } as const;
  assert.throws(() => demandAddonValues(plugin, { values: {} } as unknown as Facts, inputs), {
    message:
      'parameter token, which a Secret gives, is not as expected: a whole number; parameter list[0], which a Secret gives, is not as expected: text; parameter size is the number 7, expected text: set it in spec.values of Plugin vip, Secret pw, ConfigMap settings, or under parameters in its addon.yaml',
  });
});
