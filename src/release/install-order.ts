/** The kinds in the order in which Helm installs them; others come last, by name. */
const ORDER: readonly string[] = [
  'PriorityClass',
  'Namespace',
  'NetworkPolicy',
  'ResourceQuota',
  'LimitRange',
  'PodSecurityPolicy',
  'PodDisruptionBudget',
  'ServiceAccount',
  'Secret',
  'SecretList',
  'ConfigMap',
  'StorageClass',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'CustomResourceDefinition',
  'ClusterRole',
  'ClusterRoleList',
  'ClusterRoleBinding',
  'ClusterRoleBindingList',
  'Role',
  'RoleList',
  'RoleBinding',
  'RoleBindingList',
  'Service',
  'DaemonSet',
  'Pod',
  'ReplicationController',
  'ReplicaSet',
  'Deployment',
  'HorizontalPodAutoscaler',
  'StatefulSet',
  'Job',
  'CronJob',
  'IngressClass',
  'Ingress',
  'APIService',
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
];
const PLACES = new Map(ORDER.map((kind, index) => [kind, index]));

/** Compares two kinds as Helm does; equal ones keep the order that they have. */
export function byInstallOrder(a: string, b: string): number {
  const [first, second] = [PLACES.get(a), PLACES.get(b)];
  if (first === undefined && second === undefined) return a < b ? -1 : a > b ? 1 : 0;
  return (first ?? ORDER.length) - (second ?? ORDER.length);
}
