import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatImage, parseImage } from './name.ts';

const DIGEST = `sha256:${'0'.repeat(64)}`;

describe('names of images', () => {
  for (const [written, whole] of [
    ['nginx', 'docker.io/library/nginx:latest'],
    ['docker.io/nginx:1', 'docker.io/library/nginx:1'],
    ['team/app', 'docker.io/team/app:latest'],
    ['localhost/app:1', 'localhost/app:1'],
    ['registry.local:5000/a/b', 'registry.local:5000/a/b:latest'],
    [`quay.io/a/b@${DIGEST}`, `quay.io/a/b@${DIGEST}`],
    [`quay.io/a/b:1@${DIGEST}`, `quay.io/a/b:1@${DIGEST}`],
  ] as const) {
    it(`${written} is ${whole}`, () => {
      const parsed = parseImage(written);
      assert.ok(parsed);
      assert.equal(formatImage(parsed), whole);
    });
  }

  for (const wrong of [
    '',
    '/nginx',
    'a b',
    'quay.io/A',
    '<no value>/nginx',
    'nginx:',
    'nginx@sha256:1',
    'a//b',
    '-x/../y',
  ]) {
    it(`"${wrong}" is none`, () => assert.equal(parseImage(wrong), undefined));
  }
});
