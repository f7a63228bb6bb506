import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../api/index.ts';
import { type HealthState, healthOf } from './health.ts';

type Case = [title: string, apiVersion: string, kind: string, content: Record<string, unknown>, HealthState, RegExp?];

const ready = { type: 'Ready', status: 'True' };
const settled = { replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2, observedGeneration: 1 };

const cases: Case[] = [
  [
    'a Deployment whose replicas are there',
    'apps/v1',
    'Deployment',
    { spec: { replicas: 2 }, status: settled },
    'healthy',
  ],
  [
    'a Deployment that nobody has seen',
    'apps/v1',
    'Deployment',
    { spec: {}, status: {} },
    'progressing',
    /has not seen it/,
  ],
  [
    'a Deployment scaled to none',
    'apps/v1',
    'Deployment',
    { spec: { replicas: 0 }, status: { observedGeneration: 1 } },
    'healthy',
  ],
  [
    'a Deployment in the middle of a rollout',
    'apps/v1',
    'Deployment',
    { spec: { replicas: 2 }, status: { ...settled, updatedReplicas: 1 } },
    'progressing',
    /1 of 2 replicas are updated/,
  ],
  [
    'a Deployment with old replicas left',
    'apps/v1',
    'Deployment',
    { spec: { replicas: 2 }, status: { ...settled, replicas: 3 } },
    'progressing',
    /1 old/,
  ],
  [
    'a Deployment with pods that are not available',
    'apps/v1',
    'Deployment',
    { spec: { replicas: 2 }, status: { ...settled, availableReplicas: 0 } },
    'progressing',
    /0 of 2 updated/,
  ],
  [
    'a Deployment that exceeded its deadline',
    'apps/v1',
    'Deployment',
    {
      spec: {},
      status: {
        observedGeneration: 1,
        conditions: [
          { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'timed out' },
        ],
      },
    },
    'failed',
    /timed out/,
  ],
  [
    'a Deployment whose pods are refused',
    'apps/v1',
    'Deployment',
    {
      spec: {},
      status: {
        observedGeneration: 1,
        conditions: [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota' }],
      },
    },
    'progressing',
    /exceeded quota/,
  ],
  [
    'a StatefulSet whose replicas are there',
    'apps/v1',
    'StatefulSet',
    { spec: { replicas: 2 }, status: { ...settled, currentRevision: 'a', updateRevision: 'a' } },
    'healthy',
  ],
  [
    'a StatefulSet between revisions',
    'apps/v1',
    'StatefulSet',
    { spec: { replicas: 2 }, status: { ...settled, currentRevision: 'a', updateRevision: 'b' } },
    'progressing',
  ],
  [
    'a partitioned StatefulSet updated as far as it may',
    'apps/v1',
    'StatefulSet',
    {
      spec: { replicas: 2, updateStrategy: { rollingUpdate: { partition: 1 } } },
      status: { ...settled, updatedReplicas: 1, currentRevision: 'a', updateRevision: 'b' },
    },
    'healthy',
  ],
  [
    'a DaemonSet on all nodes',
    'apps/v1',
    'DaemonSet',
    {
      spec: {},
      status: {
        observedGeneration: 1,
        desiredNumberScheduled: 3,
        currentNumberScheduled: 3,
        updatedNumberScheduled: 3,
        numberAvailable: 3,
        numberReady: 3,
      },
    },
    'healthy',
  ],
  [
    'a DaemonSet that is not on all nodes',
    'apps/v1',
    'DaemonSet',
    {
      spec: {},
      status: {
        observedGeneration: 1,
        desiredNumberScheduled: 3,
        currentNumberScheduled: 3,
        updatedNumberScheduled: 3,
        numberAvailable: 2,
        numberReady: 2,
      },
    },
    'progressing',
    /2 of 3 pods are available/,
  ],
  [
    'a DaemonSet in a cluster without nodes for it',
    'apps/v1',
    'DaemonSet',
    { spec: {}, status: { observedGeneration: 1, desiredNumberScheduled: 0 } },
    'healthy',
  ],
  [
    'a ReplicaSet with too few replicas',
    'apps/v1',
    'ReplicaSet',
    { spec: { replicas: 2 }, status: { observedGeneration: 1, replicas: 2, availableReplicas: 1 } },
    'progressing',
  ],
  [
    'a Job at work',
    'batch/v1',
    'Job',
    { spec: { completions: 3 }, status: { active: 1, succeeded: 1 } },
    'progressing',
    /1 of 3/,
  ],
  [
    'a Job that has completed',
    'batch/v1',
    'Job',
    { status: { conditions: [{ type: 'Complete', status: 'True' }] } },
    'healthy',
  ],
  [
    'a Job that failed',
    'batch/v1',
    'Job',
    { status: { conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' }] } },
    'failed',
    /BackoffLimitExceeded/,
  ],
  ['a CronJob', 'batch/v1', 'CronJob', { spec: {} }, 'healthy'],
  ['a Pod that is ready', 'v1', 'Pod', { status: { phase: 'Running', conditions: [ready] } }, 'healthy'],
  ['a Pod that has completed', 'v1', 'Pod', { status: { phase: 'Succeeded' } }, 'healthy'],
  [
    'a Pod that can’t pull its image',
    'v1',
    'Pod',
    {
      status: {
        phase: 'Pending',
        containerStatuses: [{ name: 'a', state: { waiting: { reason: 'ImagePullBackOff' } } }],
      },
    },
    'progressing',
    /container a: ImagePullBackOff/,
  ],
  [
    'a Pod that no node takes',
    'v1',
    'Pod',
    { status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] } },
    'progressing',
    /Unschedulable/,
  ],
  ['a Pod that failed', 'v1', 'Pod', { status: { phase: 'Failed', message: 'evicted' } }, 'failed', /evicted/],
  ['a Node that is ready', 'v1', 'Node', { status: { conditions: [ready] } }, 'healthy'],
  ['a Node that nobody has reported on', 'v1', 'Node', { spec: {} }, 'progressing', /^not ready$/],
  [
    'a Node that was lost',
    'v1',
    'Node',
    { status: { conditions: [{ type: 'Ready', status: 'Unknown', message: 'Kubelet stopped posting' }] } },
    'progressing',
    /^not ready: Kubelet stopped posting$/,
  ],
  ['a claim that is bound', 'v1', 'PersistentVolumeClaim', { status: { phase: 'Bound' } }, 'healthy'],
  ['a claim that waits', 'v1', 'PersistentVolumeClaim', { status: { phase: 'Pending' } }, 'progressing'],
  ['a Service', 'v1', 'Service', { spec: { type: 'ClusterIP' } }, 'healthy'],
  [
    'a load balancer without its address',
    'v1',
    'Service',
    { spec: { type: 'LoadBalancer' }, status: { loadBalancer: {} } },
    'progressing',
  ],
  [
    'a load balancer with its address',
    'v1',
    'Service',
    { spec: { type: 'LoadBalancer' }, status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } } },
    'healthy',
  ],
  [
    'a CRD that is established',
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    {
      status: {
        conditions: [
          { type: 'NamesAccepted', status: 'True' },
          { type: 'Established', status: 'True' },
        ],
      },
    },
    'healthy',
  ],
  ['a CRD that was just made', 'apiextensions.k8s.io/v1', 'CustomResourceDefinition', {}, 'progressing'],
  [
    'a CRD whose names are taken',
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    { status: { conditions: [{ type: 'NamesAccepted', status: 'False', reason: 'ListKindConflict' }] } },
    'failed',
    /ListKindConflict/,
  ],
  [
    'an APIService that is down',
    'apiregistration.k8s.io/v1',
    'APIService',
    { status: { conditions: [{ type: 'Available', status: 'False', reason: 'ServiceNotFound' }] } },
    'progressing',
    /ServiceNotFound/,
  ],
  ['a PodDisruptionBudget', 'policy/v1', 'PodDisruptionBudget', { status: { observedGeneration: 1 } }, 'healthy'],
  [
    'a scaler without metrics',
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    { status: { conditions: [{ type: 'ScalingActive', status: 'False', reason: 'FailedGetResourceMetric' }] } },
    'healthy',
    /does not scale: FailedGetResourceMetric/,
  ],
  ['a webhook configuration', 'admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', {}, 'healthy'],
  ['a role', 'rbac.authorization.k8s.io/v1', 'ClusterRole', {}, 'healthy'],
  ['a ConfigMap', 'v1', 'ConfigMap', {}, 'healthy'],
  ['a custom object that is ready', 'x.dev/v1', 'Thing', { status: { conditions: [ready] } }, 'healthy'],
  [
    'a custom object that is not ready',
    'x.dev/v1',
    'Thing',
    { status: { conditions: [{ type: 'Ready', status: 'False', reason: 'Waiting', message: 'for DNS' }] } },
    'progressing',
    /Waiting: for DNS/,
  ],
  [
    'a custom object that its controller works on',
    'x.dev/v1',
    'Thing',
    { status: { conditions: [ready, { type: 'Reconciling', status: 'True' }] } },
    'progressing',
  ],
  [
    'a custom object that is stalled',
    'x.dev/v1',
    'Thing',
    { status: { conditions: [ready, { type: 'Stalled', status: 'True', message: 'no license' }] } },
    'failed',
    /no license/,
  ],
  [
    'a custom object with Available alone',
    'x.dev/v1',
    'Thing',
    { status: { conditions: [{ type: 'Available', status: 'False' }] } },
    'progressing',
  ],
  [
    'a ready object that keeps saying Progressing',
    'x.dev/v1',
    'Thing',
    { status: { conditions: [ready, { type: 'Progressing', status: 'True' }] } },
    'healthy',
  ],
  [
    'a gateway accepted but not programmed',
    'gateway.networking.k8s.io/v1',
    'Gateway',
    {
      status: {
        conditions: [
          { type: 'Accepted', status: 'True' },
          { type: 'Programmed', status: 'False' },
        ],
      },
    },
    'progressing',
  ],
  ['a custom object without a status', 'x.dev/v1', 'Thing', {}, 'healthy'],
  ['a status of an odd form', 'x.dev/v1', 'Thing', { status: { conditions: 'none' } }, 'healthy'],
];

for (const [title, apiVersion, kind, content, state, message] of cases) {
  test(`${title} is ${state}`, () => {
    const object: KubeObject = { apiVersion, kind, metadata: { name: 'a', generation: 1 }, ...content };
    const health = healthOf(object);
    assert.equal(health.state, state, health.message);
    assert.notEqual(health.message, '');
    if (message !== undefined) assert.match(health.message, message);
  });
}

for (const [apiVersion, kind] of [
  ['apps/v1', 'Deployment'],
  ['x.dev/v1', 'Thing'],
] as const) {
  test(`a ${kind} whose newest generation was not seen is progressing, whatever its conditions say`, () => {
    const status = { ...settled, conditions: [ready], observedGeneration: 4 };
    const health = healthOf({
      apiVersion,
      kind,
      metadata: { name: 'a', generation: 5 },
      spec: { replicas: 2 },
      status,
    });
    assert.deepEqual(health, { state: 'progressing', message: 'its controller has seen generation 4 of 5' });
  });
}

test('what is being deleted is terminating, and says what it waits for', () => {
  const metadata = { name: 'a', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x.dev/cleanup'] };
  const health = healthOf({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
  assert.deepEqual(health, { state: 'terminating', message: 'being deleted; waits for x.dev/cleanup' });
});
