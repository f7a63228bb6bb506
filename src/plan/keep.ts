import { groupOf, type KubeObject, type ObjectRef } from '../api/index.ts';
import { asJson, fieldOf } from './json.ts';
import type { KeepReason, ObjectPlan } from './object-plan.ts';
import type { PlanInput } from './plan-input.ts';

export interface Kept {
  reason: KeepReason;
  why: string;
}

const CLUSTER_NAMESPACES = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease']);

/**
 * Why an object that we own and that is no longer declared stays all the same, or undefined when it may go.
 * `others` is what the plan says of the other objects that are no longer declared: a CustomResourceDefinition may
 * follow its last objects, a namespace must not take a volume claim with it that stays.
 */
export function keepRule(
  ref: ObjectRef,
  live: KubeObject,
  others: readonly ObjectPlan[],
  input: PlanInput,
): Kept | undefined {
  const { deletion } = input.rules;
  if (input.isAgent?.(live) === true) {
    return { reason: 'agent', why: 'the agent itself is made of it; remove it by hand' };
  }
  if (!input.revisionComplete) {
    const why = input.whyIncomplete ?? 'the revision could not be read or rendered as a whole';
    return { reason: 'incomplete', why };
  }
  // It goes already, and nobody can keep it: to say otherwise would drop it from the record too early.
  if (live.metadata.deletionTimestamp !== undefined) return undefined;
  if (input.removing === true && deletion.policy === 'orphan') {
    return { reason: 'orphan', why: 'deletion.policy is orphan' };
  }
  if (live.metadata.annotations?.['helm.sh/resource-policy'] === 'keep') {
    return { reason: 'policy', why: 'its annotation helm.sh/resource-policy says keep' };
  }
  const group = groupOf(ref.apiVersion);
  if (group === 'apiextensions.k8s.io' && ref.kind === 'CustomResourceDefinition') {
    return keepDefinition(live, others, input);
  }
  if (group === '' && ref.kind === 'Namespace') return keepNamespace(ref.name, others, input);
  if (group === '' && (ref.kind === 'PersistentVolumeClaim' || ref.kind === 'PersistentVolume')) {
    return deletion.volumes === 'delete' ? undefined : { reason: 'volume', why: 'deletion.volumes is keep' };
  }
  return undefined;
}

function keepDefinition(live: KubeObject, others: readonly ObjectPlan[], input: PlanInput): Kept | undefined {
  const spec = fieldOf(asJson(live), 'spec');
  const [group, kind] = [fieldOf(spec, 'group'), fieldOf(fieldOf(spec, 'names'), 'kind')];
  const instances = input.instancesOf?.(live.metadata.name);
  const going = others.filter(
    ({ action, ref }) => action === 'delete' && ref.kind === kind && groupOf(ref.apiVersion) === group,
  ).length;
  const rest = typeof instances === 'number' ? instances - going : undefined;
  const count = rest === undefined ? '' : rest === 1 ? '; 1 object of it exists' : `; ${rest} objects of it exist`;
  if (input.rules.deletion.crds !== 'delete') {
    return { reason: 'crd', why: `deletion.crds is keep${rest !== undefined && rest > 0 ? count : ''}` };
  }
  if (rest === undefined) return { reason: 'crd', why: 'it is not known whether objects of it exist' };
  if (rest > 0) return { reason: 'crd', why: `it goes when its objects are gone${count}` };
  return undefined;
}

function keepNamespace(name: string, others: readonly ObjectPlan[], input: PlanInput): Kept | undefined {
  if (CLUSTER_NAMESPACES.has(name)) return { reason: 'namespace', why: 'the cluster itself needs it' };
  if (input.rules.deletion.namespaces !== 'delete') return { reason: 'namespace', why: 'deletion.namespaces is keep' };
  if (input.desired.some((object) => object.metadata.namespace === name)) {
    return { reason: 'namespace', why: 'this plugin still declares objects in it' };
  }
  const user = input.namespaceUsedBy?.(name);
  if (user !== undefined) return { reason: 'namespace', why: `plugin ${user} has objects in it` };
  const claims = input.rules.deletion.volumes === 'delete' ? undefined : input.claimsIn?.(name);
  if (claims === 'unknown') return { reason: 'namespace', why: 'it is not known whether volume claims are in it' };
  const [claim] = claims ?? [];
  if (claim !== undefined) return { reason: 'namespace', why: `PersistentVolumeClaim ${claim} in it stays` };
  const staying = others.find(({ action, ref }) => ref.namespace === name && action !== 'delete');
  if (staying !== undefined) return { reason: 'namespace', why: `${staying.ref.kind} ${staying.ref.name} in it stays` };
  return undefined;
}
