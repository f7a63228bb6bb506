import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageOf } from '../api/index.ts';
import { quote } from '../api/validate/describe.ts';
import { withoutSecrets } from './hide-secrets.ts';

test('a long secret is hidden where a message quotes no more than its beginning', () => {
  const token = `canary "1"\n${'x1y2'.repeat(40)}`;
  const error = new Error(`spec.timeout is ${quote(token)}, expected a duration`);
  assert.equal(messageOf(withoutSecrets(error, [token])), 'spec.timeout is "[redacted]…", expected a duration');
});
