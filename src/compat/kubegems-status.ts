import type { Plugin } from '../api/index.ts';
import type { KubegemsStatus } from './kubegems-kind.ts';

/** The status of a KubeGems object whose Plugin this is. `before` is what it says now: when it was installed first is kept. */
export function kubegemsStatus(plugin: Plugin, before: KubegemsStatus | undefined): KubegemsStatus {
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
  return {
    phase: phaseOf(plugin),
    message: status.message ?? '',
    ...{ namespace, installNamespace: namespace },
    ...(version === undefined ? {} : { version }),
    ...(app === undefined ? {} : { appVersion: app }),
    ...(first === undefined ? {} : { creationTimestamp: first }),
    ...(installed[0] === undefined ? {} : { upgradeTimestamp: installed[0] }),
    resources,
  };
}

/** Of an object that can't be used: what is installed stays, and is still told. */
export function failedStatus(message: string, before: KubegemsStatus | undefined): KubegemsStatus {
  return { ...before, phase: 'Failed', message };
}

/** The three ends that KubeGems has; what it has no word for is told in ours. Nothing is Installed before it is. */
function phaseOf({ metadata, spec, status }: Plugin): string {
  if (metadata.deletionTimestamp !== undefined) return 'Removing';
  if (status?.phase === undefined) return 'Pending';
  if (status.observedGeneration !== metadata.generation) return 'Progressing';
  if (status.phase !== 'Ready') return status.phase;
  return spec.enabled && status.revision?.key !== undefined ? 'Installed' : 'Disabled';
}
