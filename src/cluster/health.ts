import { groupOf, type KubeObject } from '../api/index.ts';
import { healthByConditions } from './health-conditions.ts';
import { facts, type Health, type ObjectFacts, progressing } from './health-facts.ts';
import {
  certificateRequest,
  claim,
  definition,
  disruptionBudget,
  ingress,
  node,
  registeredApi,
  scaler,
  service,
} from './health-others.ts';
import { cronJob, daemonSet, deployment, job, pod, replicas, statefulSet } from './health-workloads.ts';

export type { Health, HealthState } from './health-facts.ts';

type Rule = (object: ObjectFacts) => Health;

const RULES: Record<string, Rule> = {
  'apps/Deployment': deployment,
  'apps/StatefulSet': statefulSet,
  'apps/DaemonSet': daemonSet,
  'apps/ReplicaSet': replicas,
  '/ReplicationController': replicas,
  'batch/Job': job,
  'batch/CronJob': cronJob,
  '/Pod': pod,
  '/Node': node,
  '/PersistentVolumeClaim': claim,
  '/Service': service,
  'networking.k8s.io/Ingress': ingress,
  'apiextensions.k8s.io/CustomResourceDefinition': definition,
  'apiregistration.k8s.io/APIService': registeredApi,
  'policy/PodDisruptionBudget': disruptionBudget,
  'autoscaling/HorizontalPodAutoscaler': scaler,
  'certificates.k8s.io/CertificateSigningRequest': certificateRequest,
  'espalier.dev/Plugin': lookedAt,
  'espalier.dev/Sync': lookedAt,
};

/** Of our own kinds: what nobody has looked at yet has no condition that says so. */
function lookedAt(read: ObjectFacts): Health {
  return read.observedGeneration === undefined ? progressing('not looked at yet') : healthByConditions(read);
}

/** Kinds that are healthy by existing: nothing brings them about after the write. */
const GROUPS_AT_REST = new Set([
  'rbac.authorization.k8s.io',
  'admissionregistration.k8s.io',
  'scheduling.k8s.io',
  'node.k8s.io',
]);
const KINDS_AT_REST = new Set([
  ...[
    '/ConfigMap',
    '/Secret',
    '/ServiceAccount',
    '/Endpoints',
    '/LimitRange',
    '/ResourceQuota',
    '/PodTemplate',
    '/Event',
  ],
  ...['networking.k8s.io/NetworkPolicy', 'networking.k8s.io/IngressClass', 'discovery.k8s.io/EndpointSlice'],
  ...['storage.k8s.io/StorageClass', 'storage.k8s.io/CSIDriver', 'coordination.k8s.io/Lease', 'events.k8s.io/Event'],
  ...['apps/ControllerRevision', '/Namespace'],
]);

/**
 * How an object is doing, by the kstatus rules: `progressing` while its controller has not caught up or works on it,
 * `failed` when it won't get there without help, `healthy` when it is what was asked for. Kinds without rules of their own
 * are judged by their conditions.
 */
export function healthOf(object: KubeObject): Health {
  const read = facts(object);
  if (read.deleting !== undefined) return { state: 'terminating', message: terminating(object) };
  const key = `${groupOf(object.apiVersion)}/${object.kind}`;
  if (KINDS_AT_REST.has(key) || GROUPS_AT_REST.has(groupOf(object.apiVersion)))
    return { state: 'healthy', message: 'exists' };
  if (
    read.generation !== undefined &&
    read.observedGeneration !== undefined &&
    read.observedGeneration < read.generation
  ) {
    return {
      state: 'progressing',
      message: `its controller has seen generation ${read.observedGeneration} of ${read.generation}`,
    };
  }
  return (RULES[key] ?? healthByConditions)(read);
}

function terminating({ metadata }: KubeObject): string {
  const finalizers = metadata.finalizers ?? [];
  return finalizers.length === 0 ? 'being deleted' : `being deleted; waits for ${finalizers.join(', ')}`;
}
