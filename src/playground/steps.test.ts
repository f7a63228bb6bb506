import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showSteps } from './steps.ts';

test('each step is told with its time when the next one begins or all is done', () => {
  const written: string[] = [];
  let now = 0;
  const steps = showSteps({ write: (text) => written.push(text) }, () => now);
  steps.begin('one');
  now = 1500;
  steps.begin('two');
  now = 1700;
  steps.end();
  steps.end();
  assert.deepEqual(written, ['  one (1.5 s)\n', '  two (0.2 s)\n']);
});

test('on a terminal the step in hand is shown and then drawn over', () => {
  const written: string[] = [];
  const steps = showSteps({ isTTY: true, write: (text) => written.push(text) }, () => 0);
  steps.begin('one');
  steps.end();
  assert.deepEqual(written, ['\r\u001b[K  one …', '\r\u001b[K  one (0.0 s)\n']);
});
