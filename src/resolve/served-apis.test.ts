import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '../api/index.ts';
import { GENERATED_LIVES, LIVES_KNOWN_UNTIL } from './api-lives.generated.ts';
import { OLDER_LIVES } from './api-lives.ts';
import { apiFindings, introducedBetween, isServedIn, limitOfKnowledge, minorOf, parseTarget } from './served-apis.ts';

const object = (apiVersion: string, kind: string): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: 'x', namespace: 'n' },
});
const messages = (minor: number, ...objects: KubeObject[]) => apiFindings(objects, minor).map(({ message }) => message);

describe('what a release of Kubernetes serves', () => {
  test('an object of a version that is gone is told with what to use instead', () => {
    assert.deepEqual(messages(25, object('batch/v1beta1', 'CronJob')), [
      'CronJob n/x is batch/v1beta1, which Kubernetes no longer serves since 1.25: use batch/v1',
    ]);
    assert.deepEqual(messages(22, object('extensions/v1beta1', 'Ingress')), [
      'Ingress n/x is extensions/v1beta1, which Kubernetes no longer serves since 1.22: use networking.k8s.io/v1',
    ]);
    assert.match(messages(30, object('policy/v1beta1', 'PodSecurityPolicy'))[0] ?? '', /nothing takes its place$/);
  });

  test('before it is gone it is deprecated, and before that it is fine', () => {
    const cron = object('batch/v1beta1', 'CronJob');
    const [finding] = apiFindings([cron], 24);
    assert.deepEqual(
      [finding?.state, finding?.deprecatedIn, finding?.removedIn, finding?.replacement],
      ['deprecated', '1.21', '1.25', 'batch/v1'],
    );
    assert.match(finding?.message ?? '', /deprecated since 1\.21 and gone in 1\.25: use batch\/v1$/);
    assert.deepEqual(apiFindings([cron], 20), []);
  });

  test('what 1.37 drops by the sources of 1.36 is known', () => {
    const [finding] = apiFindings([object('networking.k8s.io/v1beta1', 'IPAddress')], 37);
    assert.deepEqual([finding?.removedIn, finding?.replacement], ['1.37', 'networking.k8s.io/v1']);
    assert.equal(apiFindings([object('networking.k8s.io/v1beta1', 'IPAddress')], 36)[0]?.state, 'deprecated');
  });

  test('kinds of others are left alone, however they are called', () => {
    const others = [
      object('example.com/v1beta1', 'CronJob'),
      object('__proto__', 'x'),
      object('batch/v1beta1', 'toString'),
    ];
    assert.deepEqual(apiFindings(others, 99), []);
    assert.equal(isServedIn(99, 'example.com/v1beta1', 'CronJob'), true);
  });

  test('a version is served from the release that brings it to the one before it goes', () => {
    const served = [20, 21, 24, 25].map((minor) => isServedIn(minor, 'discovery.k8s.io/v1', 'EndpointSlice') === true);
    assert.deepEqual(served, [false, true, true, true]);
    assert.equal(isServedIn(24, 'policy/v1beta1', 'PodDisruptionBudget'), true);
    assert.equal(isServedIn(25, 'policy/v1beta1', 'PodDisruptionBudget'), false);
  });

  test('stable versions that an upgrade brings are known, and others are not switched on by it', () => {
    const brought = introducedBetween(35, 36).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`);
    assert.ok(brought.includes('admissionregistration.k8s.io/v1 MutatingAdmissionPolicy'));
    assert.ok(brought.every((one) => /\/v\d+ /.test(one)));
    assert.deepEqual(introducedBetween(36, 35), []);
  });

  test('the hand-kept list says nothing that the sources say', () => {
    for (const [apiVersion, kinds] of Object.entries(OLDER_LIVES)) {
      for (const kind of Object.keys(kinds)) assert.equal(GENERATED_LIVES[apiVersion]?.[kind], undefined, apiVersion);
    }
  });
});

test('a target is a release or a patch of one, and says when more than the table knows is asked', () => {
  assert.deepEqual(parseTarget('1.37'), { release: '1.37', gitVersion: 'v1.37.0', minor: 37 });
  assert.equal(parseTarget('v1.36.4')?.gitVersion, 'v1.36.4');
  for (const text of ['', '1', '2.0', '1.x', '1.37-rc.1', '1.37.0.0', '>=1.37']) {
    assert.equal(parseTarget(text), undefined, text);
  }
  assert.equal(minorOf('v1.36.3-gke.100'), 36);
  assert.equal(limitOfKnowledge(LIVES_KNOWN_UNTIL), undefined);
  assert.match(limitOfKnowledge(LIVES_KNOWN_UNTIL + 1) ?? '', /decided when 1\.36 came out/);
});
