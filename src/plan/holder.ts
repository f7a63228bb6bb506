import type { KubeObject } from '../api/index.ts';

/** Who seems to look after an object that no Plugin declares, by the marks that tools leave. For people to read. */
export function holderOf(live: KubeObject): string {
  const { annotations = {}, labels = {}, ownerReferences = [], managedFields = [] } = live.metadata;
  const release = annotations['meta.helm.sh/release-name'];
  if (release !== undefined) {
    return `Helm release ${annotations['meta.helm.sh/release-namespace'] ?? ''}/${release}`;
  }
  for (const [kind, prefix] of [
    ['Flux Kustomization', 'kustomize.toolkit.fluxcd.io'],
    ['Flux HelmRelease', 'helm.toolkit.fluxcd.io'],
  ]) {
    const name = labels[`${prefix}/name`];
    if (name !== undefined) return `${kind} ${labels[`${prefix}/namespace`] ?? ''}/${name}`;
  }
  const application = annotations['argocd.argoproj.io/tracking-id']?.split(':')[0];
  if (application !== undefined) return `Argo CD application ${application}`;
  const owner = ownerReferences.find((reference) => reference.controller === true);
  if (owner !== undefined) return `${owner.kind} ${owner.name}`;
  const managers = managedFields
    .filter((entry) => (entry.subresource ?? '') === '')
    .map((entry) => entry.manager ?? '');
  return managers.length === 0 ? 'nobody known' : [...new Set(managers)].join(', ');
}
