import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { activityOf, type ClusterFacts, plainVersion, type When } from './when.ts';

const facts: ClusterFacts = { kubernetes: 'v1.36.3', labels: { tier: 'prod', region: 'eu' }, windowOpen: true };

describe('when', () => {
  const cases: [title: string, when: When | undefined, facts: Partial<ClusterFacts>, state: string][] = [
    ['without conditions is active', undefined, {}, 'active'],
    ['with a fitting Kubernetes version is active', { kubernetes: '>=1.29 <1.40' }, {}, 'active'],
    [
      'with a vendor build of a fitting version is active',
      { kubernetes: '>=1.36' },
      { kubernetes: 'v1.36.3+k3s1' },
      'active',
    ],
    [
      'with a GKE build of a fitting version is active',
      { kubernetes: '~1.36' },
      { kubernetes: 'v1.36.3-gke.1003000' },
      'active',
    ],
    [
      'with a release candidate counts as its release',
      { kubernetes: '>=1.37' },
      { kubernetes: 'v1.37.0-rc.1' },
      'active',
    ],
    ['with another Kubernetes version is inactive', { kubernetes: '<1.30' }, {}, 'inactive'],
    ['with an unknown Kubernetes version waits', { kubernetes: '<1.30' }, { kubernetes: undefined }, 'waiting'],
    ['with an unreadable Kubernetes version waits', { kubernetes: '<1.30' }, { kubernetes: 'devel' }, 'waiting'],
    ['with a range that cannot be read waits', { kubernetes: 'new' }, {}, 'waiting'],
    ['with all labels of the cluster is active', { cluster: { tier: 'prod', region: 'eu' } }, {}, 'active'],
    ['with another value of a label is inactive', { cluster: { tier: 'test' } }, {}, 'inactive'],
    ['with a label that the cluster lacks is inactive', { cluster: { gpu: 'yes' } }, {}, 'inactive'],
    ['with the name of a built-in property as label is inactive', { cluster: { toString: 'x' } }, {}, 'inactive'],
    ['with an open window is active', { window: { cron: '0 2 * * *' } }, {}, 'active'],
    ['with a closed window waits', { window: { cron: '0 2 * * *' } }, { windowOpen: false }, 'waiting'],
    [
      'with a closed window but another cluster is inactive',
      { window: {}, cluster: { tier: 'x' } },
      { windowOpen: false },
      'inactive',
    ],
  ];
  for (const [title, when, some, state] of cases) {
    test(title, () => {
      const activity = activityOf(when, { ...facts, ...some });
      assert.equal(activity.state, state);
      if (activity.state !== 'active') assert.ok(activity.why.length > 10);
    });
  }

  test('says what was wanted and what was found', () => {
    const activity = activityOf({ kubernetes: '<1.30' }, facts);
    assert.deepEqual(activity, { state: 'inactive', why: 'it is for Kubernetes <1.30; this cluster runs v1.36.3' });
  });
});

test('a plain version drops what vendors append', () => {
  assert.equal(plainVersion('v1.36.3+k3s1'), '1.36.3');
  assert.equal(plainVersion('1.36'), '1.36.0');
  assert.equal(plainVersion(''), undefined);
  assert.equal(plainVersion(undefined), undefined);
});
