import type { ManagedFieldsEntry } from '../api/index.ts';

/** Field managers of tools that install things. Their fields are no decision of anybody's about an object. */
const DEPLOYERS: ReadonlySet<string> = new Set([
  ...['kustomize-controller', 'helm-controller', 'flux', 'flux-client-side-apply'],
  ...['argocd-controller', 'argocd-application-controller'],
  ...['helm', 'Helm', 'kubectl', 'kubectl-client-side-apply', 'kubectl-create', 'kubectl-replace'],
  ...['kubegems', 'kubegems-installer', 'bundle-controller'],
]);

/**
 * What managedFields shall be once an object was taken over: without those who installed it before. They would hold every
 * field together with us for ever, and no change of ours would go through. Undefined when there is nobody to remove.
 */
export function withoutDeployers(
  managedFields: readonly ManagedFieldsEntry[] | undefined,
  ours: string,
): ManagedFieldsEntry[] | undefined {
  const entries = managedFields ?? [];
  const isOurs = (entry: ManagedFieldsEntry) => entry.manager === ours && entry.operation === 'Apply';
  const kept = entries.filter(
    (entry) => isOurs(entry) || (entry.subresource ?? '') !== '' || !DEPLOYERS.has(entry.manager ?? ''),
  );
  return kept.length === entries.length || !kept.some(isOurs) ? undefined : kept;
}
