import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rewriteImage } from './rules.ts';
import { shownImage, type Target, targetOf } from './target.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;

function shown(target: Target): string {
  return 'to' in target ? shownImage(target.to) : 'own' in target ? 'own' : target.problem;
}

describe('where an image is mirrored to', () => {
  const to = 'harbor.local/mirror/';

  it('where the cluster pulls it from, when that is the registry that is filled', () => {
    const wanted = { image: 'nginx:1', pulled: 'harbor.local/hub/library/nginx:1' };
    assert.equal(shown(targetOf(wanted, to)), 'harbor.local/hub/library/nginx:1');
    assert.equal(shown(targetOf(wanted, undefined)), 'harbor.local/hub/library/nginx:1');
  });

  for (const image of ['nginx', 'quay.io/team/app:1', 'registry.local:5000/a/b:2']) {
    it(`${image}, which no rule leads away, goes where the rule that is told would lead the cluster`, () => {
      const target = targetOf({ image, pulled: image }, to);
      assert.ok('to' in target && target.unruled !== undefined);
      const ruled = rewriteImage(image, [target.unruled]) ?? '';
      assert.equal(shown(target), ruled.includes(':') && /:\w+$/.test(ruled) ? ruled : `${ruled}:latest`);
    });
  }

  it('a port is no part of a path', () => {
    const image = 'registry.local:5000/a/b:2';
    assert.equal(shown(targetOf({ image, pulled: image }, to)), 'harbor.local/mirror/registry.local-5000/a/b:2');
  });

  it('what the cluster pulls from a third registry is copied all the same, and that is told', () => {
    const target = targetOf({ image: 'nginx:1', pulled: 'other.local/nginx:1' }, to);
    assert.equal(shown(target), 'harbor.local/mirror/docker.io/library/nginx:1');
    assert.ok('elsewhere' in target && target.elsewhere === 'other.local/nginx:1');
  });

  it('what is at home there stays', () => {
    const image = 'harbor.local/own/app:1';
    assert.equal(shown(targetOf({ image, pulled: image }, to)), 'own');
  });

  it('what is pinned and has no tag gets one of its digest', () => {
    const image = `quay.io/app@${DIGEST}`;
    assert.equal(
      shown(targetOf({ image, pulled: image }, to)),
      `harbor.local/mirror/quay.io/app:${DIGEST.replace(':', '-')}`,
    );
  });

  it('without a registry to fill and a rule there is no place', () => {
    assert.match(
      shown(targetOf({ image: 'quay.io/app', pulled: 'quay.io/app' }, undefined)),
      /no rule .* quay\.io\/app/,
    );
    assert.match(shown(targetOf({ image: '<no value>/x', pulled: '' }, to)), /no name of an image/);
  });
});
