import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readGoLine } from './go-lines.ts';
import { barOf, describeProgress, elapsedText, type Progress } from './progress.ts';
import { showProgress } from './show-progress.ts';

const COMPILING: Progress = {
  subject: 'helm 4.3.1',
  step: 'compiling',
  done: 50,
  total: 200,
  unit: 'packages',
  detail: 'fmt',
};

test('a step is described with how much of it is done', () => {
  assert.equal(describeProgress(COMPILING), 'helm 4.3.1: compiling 50 of 200 packages (fmt)');
  const bytes: Progress = { subject: 'age 1', step: 'downloading', done: 1_500_000, unit: 'bytes' };
  assert.equal(describeProgress(bytes), 'age 1: downloading 1.5 MB');
});

test('a bar fills with the share done, and is left out while the whole is unknown', () => {
  assert.equal(barOf(COMPILING, 8), '[##------]');
  assert.equal(barOf({ ...COMPILING, done: 200 }, 4), '[####]');
  assert.equal(barOf({ ...COMPILING, total: undefined }), '');
});

test('times are told in seconds, from a minute on in minutes', () => {
  assert.deepEqual([8_400, 65_000].map(elapsedText), ['8s', '1m05s']);
});

test('without a terminal a long step writes a line every five seconds and one at its end', () => {
  const { report, written, pass } = recorder({ isTTY: false });
  for (let second = 0; second < 12; second++) {
    report({ ...COMPILING, done: second });
    pass(1000);
  }
  report({ subject: COMPILING.subject, step: 'installed' });
  assert.deepEqual(written, [
    'helm 4.3.1: compiling 1 of 200 packages (fmt), 1s\n',
    'helm 4.3.1: compiling 6 of 200 packages (fmt), 6s\n',
    'helm 4.3.1: compiling 11 of 200 packages (fmt), 11s\n',
    'helm 4.3.1: installed, 12s\n',
  ]);
});

test('a step that takes less than a second is not talked about, a warning always is', () => {
  for (const isTTY of [false, true]) {
    const { report, written } = recorder({ isTTY });
    report(COMPILING);
    report({ subject: 'helm 4.3.1', step: 'installed' });
    assert.deepEqual(written, []);
    report({ subject: 'helm 4.3.1', step: 'warning', detail: 'refused' });
    assert.match(written.join(''), /warning \(refused\)/);
  }
});

test('a terminal sees one line drawn over, no wider than it is, with time and bar, and the line goes at the end', () => {
  const { report, written, pass } = recorder({ isTTY: true, columns: 40 });
  report(COMPILING);
  pass(61_000);
  report(COMPILING);
  assert.equal(written[0], `\r\u001b[K${'1m01s [#####---------------] helm 4.3.1: compiling'.slice(0, 39)}`);
  report({ subject: 'helm 4.3.1', step: 'failed' });
  assert.equal(written.at(-1), '\r\u001b[K');
});

test('lines of Go are told apart: a module fetched, a package compiled, anything else', () => {
  assert.deepEqual(readGoLine('go: downloading k8s.io/api v0.36.3'), { kind: 'module', name: 'k8s.io/api v0.36.3' });
  assert.deepEqual(readGoLine('k8s.io/api/core/v1'), { kind: 'package', name: 'k8s.io/api/core/v1' });
  for (const line of ['# runtime/cgo', 'main.go:3:2: undefined: x', '']) assert.equal(readGoLine(line).kind, 'other');
});

function recorder(stream: { isTTY: boolean; columns?: number }) {
  const written: string[] = [];
  let time = 1_000_000;
  const report = showProgress({ ...stream, write: (text) => written.push(text) }, () => time);
  return { report, written, pass: (ms: number) => (time += ms) };
}

test('a step that says nothing for long is talked about all the same', (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'Date'] });
  const written: string[] = [];
  const report = showProgress({ write: (text) => written.push(text) });
  report(COMPILING);
  for (let second = 0; second < 7; second++) t.mock.timers.tick(1000);
  assert.equal(written.length, 2);
  report({ subject: COMPILING.subject, step: 'failed' });
  t.mock.timers.tick(20_000);
  assert.equal(written.filter((text) => text !== '').length, 2);
});
