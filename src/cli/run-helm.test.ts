import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyHelmFailed } from './run-helm.ts';

test('why Helm failed is what it says itself, without the log of its libraries', () => {
  const log =
    'I1119 00:56:47.681655   13333 reflector.go:664] "Warning: watch ended with error" err="context canceled"';
  assert.equal(whyHelmFailed(`${log}\nError: resource Pod/x/fails not ready\n`), 'resource Pod/x/fails not ready');
  assert.equal(whyHelmFailed('Error: one\nI am the second line\n'), 'one\nI am the second line');
  assert.equal(whyHelmFailed(''), '');
});
