import { groupOf, type KubeObject, type ObjectRef } from '../api/index.ts';

/** Kinds that belong to Kubernetes itself: their controllers are always there, so their objects need nobody of ours to be deleted. */
const BUILT_IN_GROUPS = new Set([
  '',
  'apps',
  'autoscaling',
  'batch',
  'policy',
  ...[
    'admissionregistration',
    'apiextensions',
    'apiregistration',
    'authentication',
    'authorization',
    'certificates',
    'coordination',
    'discovery',
    'events',
    'flowcontrol.apiserver',
    'internal.apiserver',
    'networking',
    'node',
    'rbac.authorization',
    'resource',
    'scheduling',
    'storage',
    'storagemigration',
  ].map((group) => `${group}.k8s.io`),
]);

/**
 * Objects are applied stage by stage. A stage starts when the one before it is *settled*: CRDs established and
 * namespaces active before anything of them is created, workloads healthy before a webhook sends requests to them.
 */
export type Stage = 'definitions' | 'objects' | 'webhooks';
export const STAGES: readonly Stage[] = ['definitions', 'objects', 'webhooks'];

const WEBHOOK_KINDS = new Set(['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration', 'APIService']);

export function stageOf(ref: Pick<ObjectRef, 'apiVersion' | 'kind'>): Stage {
  if (ref.kind === 'CustomResourceDefinition' || (ref.kind === 'Namespace' && ref.apiVersion === 'v1'))
    return 'definitions';
  if (WEBHOOK_KINDS.has(ref.kind)) return 'webhooks';
  return 'objects';
}

/** Within a stage, what others mount, bind or refer to goes out first, so that nothing has to fail and try again. */
const FIRST_KINDS = [
  'ResourceQuota',
  'LimitRange',
  'PriorityClass',
  'StorageClass',
  'ServiceAccount',
  'Secret',
  'ConfigMap',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'Service',
];
const RANK = new Map(FIRST_KINDS.map((kind, index) => [kind, index]));

export function applyRank(ref: Pick<ObjectRef, 'apiVersion' | 'kind'>): number {
  if (!isBuiltIn(ref)) return FIRST_KINDS.length + 1;
  return RANK.get(ref.kind) ?? FIRST_KINDS.length;
}

/** Desired objects by stage, each stage in the order in which it should be sent. */
export function byStage(objects: readonly KubeObject[]): { stage: Stage; objects: KubeObject[] }[] {
  return STAGES.map((stage) => ({
    stage,
    objects: objects.filter((object) => stageOf(object) === stage).sort((a, b) => applyRank(a) - applyRank(b)),
  })).filter((group) => group.objects.length > 0);
}

/**
 * Removal runs the other way, and each wave waits until the one before is gone: webhooks first (they would refuse the
 * rest once their server is gone), then custom objects while their operator can still clear finalizers, then APIs
 * that somebody else serves (the API server would ask in vain), then everything else, then definitions.
 */
export type RemovalWave = 'webhooks' | 'custom' | 'apis' | 'objects' | 'definitions' | 'namespaces';
const REMOVAL_WAVES: readonly RemovalWave[] = ['webhooks', 'custom', 'apis', 'objects', 'definitions', 'namespaces'];

export function removalWaves<T extends Pick<ObjectRef, 'apiVersion' | 'kind'>>(refs: readonly T[]): T[][] {
  return REMOVAL_WAVES.map((wave) => refs.filter((ref) => removalWave(ref) === wave)).filter((wave) => wave.length > 0);
}

export function removalWave(ref: Pick<ObjectRef, 'apiVersion' | 'kind'>): RemovalWave {
  if (ref.kind === 'CustomResourceDefinition') return 'definitions';
  if (ref.kind === 'Namespace' && ref.apiVersion === 'v1') return 'namespaces';
  if (ref.kind === 'APIService') return 'apis';
  if (WEBHOOK_KINDS.has(ref.kind)) return 'webhooks';
  return isBuiltIn(ref) ? 'objects' : 'custom';
}

export function isBuiltIn(ref: Pick<ObjectRef, 'apiVersion'>): boolean {
  return BUILT_IN_GROUPS.has(groupOf(ref.apiVersion));
}
