import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { leftBehind, ownPlaces, rewriteImage } from './rules.ts';

describe('image rewriting', () => {
  const rules = [
    { from: 'docker.io', to: 'harbor.local/docker' },
    { from: 'docker.io/library/', to: 'harbor.local/official/' },
    { from: 'quay.io/team', to: 'harbor.local/team' },
    { from: 'bitnami', to: 'harbor.local/b' },
  ];
  for (const [image, expected] of [
    ['nginx', 'harbor.local/official/nginx'],
    ['nginx:1.27', 'harbor.local/official/nginx:1.27'],
    ['grafana/grafana:11', 'harbor.local/docker/grafana/grafana:11'],
    ['docker.io/nginx:1', 'harbor.local/official/nginx:1'],
    ['index.docker.io/grafana/grafana', 'harbor.local/docker/grafana/grafana'],
    ['docker.io/grafana/grafana', 'harbor.local/docker/grafana/grafana'],
    [`docker.io/a/b:1@sha256:${'0'.repeat(64)}`, `harbor.local/docker/a/b:1@sha256:${'0'.repeat(64)}`],
    ['bitnami/redis:7', 'harbor.local/docker/bitnami/redis:7'],
    ['quay.io/team/app:v1', 'harbor.local/team/app:v1'],
    ['quay.io/team', 'harbor.local/team'],
    ['quay.io/teammate/app', undefined],
    ['registry.local:5000/a/b:1', undefined],
    ['localhost/a', undefined],
  ] as const) {
    it(`makes ${expected ?? 'nothing else'} of ${image}`, () => assert.equal(rewriteImage(image, rules), expected));
  }
});

describe('images that are left', () => {
  const rules = [
    { from: 'docker.io', to: 'harbor.local/docker' },
    { from: 'quay.io', to: 'mirror/quay/' },
  ];

  const places = ownPlaces(rules, undefined);

  it('are those that stand where no rule leads, once and sorted', () => {
    const images = ['quay.io/b:1', 'harbor.local/docker/library/nginx', 'gcr.io/a:1', 'quay.io/b:1', 'mirror/quay/c'];
    assert.deepEqual(leftBehind(images, places), ['gcr.io/a:1', 'quay.io/b:1']);
  });

  it('a registry whose name only begins like that of a rule is another one', () => {
    assert.deepEqual(leftBehind(['harbor.local/dockers/a'], places), ['harbor.local/dockers/a']);
  });

  it('what charts get from the global imageRegistry is where it is meant to be', () => {
    const images = ['reg.local/a:1', 'quay.io/b:1'];
    assert.deepEqual(leftBehind(images, ownPlaces([], 'reg.local')), ['quay.io/b:1']);
  });

  it('there are none without rules', () => assert.deepEqual(leftBehind(['gcr.io/a'], ownPlaces([], '')), []));
});
