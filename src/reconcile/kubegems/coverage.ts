import type { Sync } from '../../api/index.ts';
import { keyOf } from '../store.ts';

/** The Sync that looks after the KubeGems objects of a namespace: its own first, then those that name it, then by name. */
export function syncFor(syncs: Iterable<Sync>, namespace: string): Sync | undefined {
  const rank = (sync: Sync): number =>
    sync.metadata.namespace === namespace ? 0 : sync.spec.allowedNamespaces === undefined ? 2 : 1;
  return covering(syncs)
    .filter((sync) => mayUse(sync, namespace))
    .sort((a, b) => rank(a) - rank(b) || (keyOf(a) < keyOf(b) ? -1 : 1))[0];
}

export function covering(syncs: Iterable<Sync>): Sync[] {
  return [...syncs].filter(
    ({ metadata, spec }) => spec.compat?.kubegems === true && metadata.deletionTimestamp === undefined,
  );
}

/** Whether the Plugins of a Sync may live in a namespace, or install to it. */
export function mayUse({ metadata, spec }: Sync, namespace: string): boolean {
  return (
    spec.allowedNamespaces === undefined ||
    namespace === metadata.namespace ||
    spec.allowedNamespaces.includes(namespace)
  );
}
