import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Plugin } from '../api/index.ts';
import { demandAddonValues } from './addon-values.ts';
import type { Facts } from './facts.ts';

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
