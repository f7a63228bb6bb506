import type { Plugin } from '../api/index.ts';
import type { KubegemsStatus } from './kubegems-kind.ts';

/**
 * The status of a KubeGems object, at a generation, of which this Plugin was made. `before` is what it says now: when it
 * was installed first is kept.
 */
export function kubegemsStatus(
  plugin: Plugin,
  before: KubegemsStatus | undefined,
  generation: number | undefined,
): KubegemsStatus {
  const { status = {}, metadata, spec } = plugin;
  const namespace = spec.namespace?.name ?? metadata.namespace ?? '';
  const installed = (status.history ?? []).filter(({ outcome }) => outcome === 'Ready').map(({ at }) => at);
  const first = before?.creationTimestamp ?? installed.at(-1);
  const resources = (status.inventory ?? []).map(({ apiVersion, kind, namespace: where, name, uid }) => ({
    ...{ apiVersion, kind, name },
    ...(where === undefined ? {} : { namespace: where }),
    ...(uid === undefined ? {} : { uid }),
  }));
  const { version, app } = status.revision ?? {};
  const isLookedAt = status.observedGeneration === metadata.generation;
  const observed = isLookedAt ? generation : before?.observedGeneration;
  return {
    phase: phaseOf(plugin),
    message: status.message ?? '',
    ...(observed === undefined ? {} : { observedGeneration: observed }),
    ...{ namespace, installNamespace: namespace },
    ...(version === undefined ? {} : { version }),
    ...(app === undefined ? {} : { appVersion: app }),
    ...(first === undefined ? {} : { creationTimestamp: first }),
    ...(installed[0] === undefined ? {} : { upgradeTimestamp: installed[0] }),
    resources,
  };
}

/** Of an object that can't be used: what is installed stays, and is still told. */
export function failedStatus(
  message: string,
  before: KubegemsStatus | undefined,
  generation: number | undefined,
): KubegemsStatus {
  return {
    ...before,
    phase: 'Failed',
    message,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

/** The three ends that KubeGems has; what it has no word for is told in ours. Nothing is Installed before it is. */
function phaseOf({ metadata, spec, status }: Plugin): string {
  if (metadata.deletionTimestamp !== undefined) return 'Removing';
  if (status?.phase === undefined) return 'Pending';
  if (status.observedGeneration !== metadata.generation) return 'Progressing';
  if (status.phase !== 'Ready') return status.phase;
  return spec.enabled && status.revision?.key !== undefined ? 'Installed' : 'Disabled';
}
