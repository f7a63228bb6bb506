/** When Kubernetes served a version of a kind, as minor versions of Kubernetes 1. */
export interface ApiLife {
  /** The first release that has it. */
  introduced: number;
  deprecated?: number;
  /** The first release that does not serve it. */
  removed?: number;
  /** The apiVersion to use instead; with a kind behind it where that changes too. */
  replacement?: string;
}

/** By apiVersion, then kind. */
export type ApiLives = Readonly<Record<string, Readonly<Record<string, ApiLife>>>>;

/**
 * What charts of some age still render and today's Kubernetes sources no longer mention. From the deprecated API
 * migration guide of Kubernetes and the release notes of the releases that are named.
 */
export const OLDER_LIVES: ApiLives = {
  'auditregistration.k8s.io/v1alpha1': { AuditSink: { introduced: 13, deprecated: 18, removed: 19 } },
  'autoscaling/v2beta1': {
    HorizontalPodAutoscaler: { introduced: 8, deprecated: 22, removed: 25, replacement: 'autoscaling/v2' },
  },
  'autoscaling/v2beta2': {
    HorizontalPodAutoscaler: { introduced: 12, deprecated: 23, removed: 26, replacement: 'autoscaling/v2' },
  },
  'batch/v2alpha1': { CronJob: { introduced: 5, deprecated: 20, removed: 21, replacement: 'batch/v1' } },
  'extensions/v1beta1': { PodSecurityPolicy: { introduced: 2, deprecated: 11, removed: 16 } },
  'policy/v1beta1': { PodSecurityPolicy: { introduced: 10, deprecated: 21, removed: 25 } },
  'rbac.authorization.k8s.io/v1alpha1': Object.fromEntries(
    ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'].map((kind) => [
      kind,
      { introduced: 6, deprecated: 17, removed: 23, replacement: 'rbac.authorization.k8s.io/v1' },
    ]),
  ),
  'scheduling.k8s.io/v1alpha1': {
    PriorityClass: { introduced: 8, deprecated: 14, removed: 23, replacement: 'scheduling.k8s.io/v1' },
  },
  'settings.k8s.io/v1alpha1': { PodPreset: { introduced: 6, deprecated: 19, removed: 20 } },
};
