import type { KubeObject } from '../api/index.ts';

/** As far as they are looked at. */
const MOST_PODS = 3;
const MOST_CONTAINERS = 3;

/** A container of a failed Job whose last words may say why. */
export interface FailedContainer {
  pod: string;
  container: string;
  /** It was started again since. */
  previous: boolean;
  /** It has nothing to say, because it never ran. */
  never?: string;
  /** Why its pod was ended from outside: it took too long, or was evicted. */
  ended?: string;
}

/** Which containers are worth asking: those that ended badly, or what else there is; the newest pods first. */
export function failedContainers(pods: readonly KubeObject[]): FailedContainer[] {
  const failed = pods.filter((pod) => statusOf(pod).phase === 'Failed' || containersOf(pod).some(endedBadly));
  const newest = (failed.length > 0 ? failed : pods).toSorted((a, b) =>
    (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? ''),
  );
  return newest.slice(0, MOST_PODS).flatMap((pod) => {
    const all = containersOf(pod);
    const bad = all.filter(endedBadly);
    return (bad.length > 0 ? bad : all).slice(0, MOST_CONTAINERS).map(({ name, state, lastState }) => {
      const { reason = 'it waits', message } = state?.waiting ?? {};
      const ran = state?.waiting === undefined || lastState?.terminated !== undefined;
      return {
        pod: pod.metadata.name,
        container: name,
        previous: state?.terminated === undefined && lastState?.terminated !== undefined,
        ...(ran ? {} : { never: message === undefined ? reason : `${reason}: ${message}` }),
        ...endOf(pod),
      };
    });
  });
}

function endOf(pod: KubeObject): Pick<FailedContainer, 'ended'> {
  const { phase, reason, message } = statusOf(pod);
  if (phase !== 'Failed' || reason === undefined) return {};
  return { ended: message === undefined ? reason : `${reason}: ${message}` };
}

/** The Secrets whose values a pod's containers may know. */
export function secretsUsedBy({ spec }: KubeObject): string[] {
  const { containers = [], initContainers = [], volumes = [] } = (spec ?? {}) as PodSpec;
  const all = [...containers, ...initContainers];
  const names = [
    ...all.flatMap(({ env = [] }) => env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name)),
    ...all.flatMap(({ envFrom = [] }) => envFrom.map(({ secretRef }) => secretRef?.name)),
    ...volumes.map(({ secret }) => secret?.secretName),
    ...volumes.flatMap(({ projected }) => (projected?.sources ?? []).map(({ secret }) => secret?.name)),
  ];
  return [...new Set(names.filter((name) => name !== undefined))];
}

interface PodSpec {
  containers?: Container[];
  initContainers?: Container[];
  volumes?: { secret?: { secretName?: string }; projected?: { sources?: { secret?: Named }[] } }[];
}

interface Container {
  env?: { valueFrom?: { secretKeyRef?: Named } }[];
  envFrom?: { secretRef?: Named }[];
}

interface Named {
  name?: string;
}

interface ContainerStatus {
  name: string;
  state?: ContainerState;
  lastState?: ContainerState;
}

interface ContainerState {
  terminated?: { exitCode?: number };
  waiting?: { reason?: string; message?: string };
}

interface PodStatus {
  phase?: string;
  reason?: string;
  message?: string;
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
}

function statusOf({ status }: KubeObject): PodStatus {
  return (status ?? {}) as PodStatus;
}

function containersOf(pod: KubeObject): ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses = [] } = statusOf(pod);
  return [...initContainerStatuses, ...containerStatuses];
}

function endedBadly({ state, lastState }: ContainerStatus): boolean {
  return [state, lastState].some((one) => (one?.terminated?.exitCode ?? 0) !== 0);
}
