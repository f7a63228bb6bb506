import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messagesIn } from './lint.ts';

test('what helm lint says is read message by message, with places that people can open', () => {
  const output = `==> Linting /tmp/x/web-1.0.0.tgz
[INFO] Chart.yaml: icon is recommended
[WARNING] templates/: directory does not exist
[ERROR] templates/: parse error at (web/templates/c.yaml:3): function "x" not defined
and more of it

Error: 1 chart(s) linted, 1 chart(s) failed
`;
  assert.deepEqual(messagesIn(output, { name: 'web', path: 'charts/web' }), [
    { severity: 'info', message: 'Chart.yaml: icon is recommended' },
    { severity: 'warning', message: 'templates/: directory does not exist' },
    {
      severity: 'error',
      message: 'templates/: parse error at (charts/web/templates/c.yaml:3): function "x" not defined and more of it',
    },
  ]);
  assert.deepEqual(messagesIn('[ERROR] alone', { name: 'web', path: '.' }), [{ severity: 'error', message: 'alone' }]);
});
