import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { API_VERSION, type Plugin, readAs } from '../api/index.ts';
import type { RecordHead } from './release-records.ts';
import { adoptable, nextStep } from './release-state.ts';

describe('a release that somebody else made', () => {
  test('is taken as it stands when its last revision is what the objects were read from', () => {
    const heads = [head(1, 'superseded'), head(2, 'deployed')];
    assert.deepEqual(nextStep(plugin(), 'key', heads, 2), { step: 'take', head: heads[1] });
  });

  test('gets a revision of ours when it was rendered anew, or when there is another one since', () => {
    const heads = [head(1, 'superseded'), head(2, 'deployed')];
    for (const from of [undefined, 1]) {
      const step = nextStep(plugin(), 'key', heads, from);
      assert.deepEqual(step, { step: 'begin', revision: 3, event: 'upgrade', abandoned: undefined });
    }
  });

  test('is taken again when the agent ended between its intent and the labels', () => {
    const begun = { ...plugin(), status: { release: { name: 'web', namespace: 'apps', revision: 1, attempt: 'a' } } };
    const heads = [head(1, 'deployed')];
    assert.deepEqual(nextStep(begun as Plugin, 'key', heads, 1), { step: 'take', head: heads[0] });
  });

  test('is not, where adopting was not asked for, where it is not deployed, or where a Plugin had it before', () => {
    assert.equal(adoptable(plugin(false), [head(1, 'deployed')]), undefined);
    assert.equal(adoptable(plugin(), [head(1, 'failed')]), undefined);
    assert.equal(adoptable(plugin(), []), undefined);
    assert.equal(adoptable(plugin(), [head(1, 'superseded', 'apps/web'), head(2, 'deployed')]), undefined);
    assert.equal(nextStep(plugin(), 'key', [head(1, 'pending-upgrade')], 1).step, 'locked');
    assert.equal(nextStep(plugin(false), 'key', [head(1, 'deployed')], 1).step, 'foreign');
  });
});

function head(revision: number, status: RecordHead['status'], owner?: string): RecordHead {
  return { revision, status, key: undefined, attempt: undefined, owner };
}

function plugin(adopt = true): Plugin {
  const spec = { kind: 'helm', source: { git: { path: 'web' } }, apply: { adopt } };
  return readAs(
    { apiVersion: API_VERSION, kind: 'Plugin', metadata: { name: 'web', namespace: 'apps' }, spec },
    'Plugin',
  );
}
