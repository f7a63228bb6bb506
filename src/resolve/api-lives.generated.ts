// Made by `node scripts/api-lives.ts` from k8s.io/api, apiextensions-apiserver and kube-aggregator.
import type { ApiLives } from './api-lives.ts';

/** The minor version of Kubernetes 1 whose sources were read. */
export const LIVES_KNOWN_UNTIL = 36;

export const GENERATED_LIVES: ApiLives = {
  'admissionregistration.k8s.io/v1': {
    MutatingAdmissionPolicy: { introduced: 36 },
    MutatingAdmissionPolicyBinding: { introduced: 36 },
    ValidatingAdmissionPolicy: { introduced: 30 },
    ValidatingAdmissionPolicyBinding: { introduced: 30 },
  },
  'admissionregistration.k8s.io/v1alpha1': {
    MutatingAdmissionPolicy: {
      introduced: 32,
      deprecated: 35,
      removed: 38,
      replacement: 'admissionregistration.k8s.io/v1',
    },
    MutatingAdmissionPolicyBinding: {
      introduced: 32,
      deprecated: 35,
      removed: 38,
      replacement: 'admissionregistration.k8s.io/v1',
    },
    ValidatingAdmissionPolicy: {
      introduced: 26,
      deprecated: 29,
      removed: 32,
      replacement: 'admissionregistration.k8s.io/v1',
    },
    ValidatingAdmissionPolicyBinding: {
      introduced: 26,
      deprecated: 29,
      removed: 32,
      replacement: 'admissionregistration.k8s.io/v1',
    },
  },
  'admissionregistration.k8s.io/v1beta1': {
    MutatingAdmissionPolicy: {
      introduced: 34,
      deprecated: 37,
      removed: 40,
      replacement: 'admissionregistration.k8s.io/v1',
    },
    MutatingAdmissionPolicyBinding: {
      introduced: 34,
      deprecated: 37,
      removed: 40,
      replacement: 'admissionregistration.k8s.io/v1',
    },
    MutatingWebhookConfiguration: {
      introduced: 9,
      deprecated: 16,
      removed: 22,
      replacement: 'admissionregistration.k8s.io/v1',
    },
    ValidatingAdmissionPolicy: {
      introduced: 28,
      deprecated: 31,
      removed: 34,
      replacement: 'admissionregistration.k8s.io/v1',
    },
    ValidatingAdmissionPolicyBinding: {
      introduced: 28,
      deprecated: 31,
      removed: 34,
      replacement: 'admissionregistration.k8s.io/v1',
    },
    ValidatingWebhookConfiguration: {
      introduced: 9,
      deprecated: 16,
      removed: 22,
      replacement: 'admissionregistration.k8s.io/v1',
    },
  },
  'apiextensions.k8s.io/v1beta1': {
    ConversionReview: { introduced: 13, deprecated: 19, removed: 22, replacement: 'apiextensions.k8s.io/v1' },
    CustomResourceDefinition: { introduced: 7, deprecated: 16, removed: 22, replacement: 'apiextensions.k8s.io/v1' },
  },
  'apiregistration.k8s.io/v1beta1': {
    APIService: { introduced: 7, deprecated: 19, removed: 22, replacement: 'apiregistration.k8s.io/v1' },
  },
  'apps/v1beta1': {
    ControllerRevision: { introduced: 7, deprecated: 8, removed: 16, replacement: 'apps/v1' },
    Deployment: { introduced: 6, deprecated: 8, removed: 16, replacement: 'apps/v1' },
    DeploymentRollback: { introduced: 6, deprecated: 8, removed: 16, replacement: 'apps/v1' },
    Scale: { introduced: 6, deprecated: 8, removed: 16, replacement: 'autoscaling/v1' },
    StatefulSet: { introduced: 5, deprecated: 8, removed: 16, replacement: 'apps/v1' },
  },
  'apps/v1beta2': {
    ControllerRevision: { introduced: 8, deprecated: 9, removed: 16, replacement: 'apps/v1' },
    DaemonSet: { introduced: 8, deprecated: 9, removed: 16, replacement: 'apps/v1' },
    Deployment: { introduced: 8, deprecated: 9, removed: 16, replacement: 'apps/v1' },
    ReplicaSet: { introduced: 8, deprecated: 9, removed: 16, replacement: 'apps/v1' },
    Scale: { introduced: 8, deprecated: 9, removed: 16, replacement: 'autoscaling/v1' },
    StatefulSet: { introduced: 8, deprecated: 9, removed: 16, replacement: 'apps/v1' },
  },
  'authentication.k8s.io/v1': {
    SelfSubjectReview: { introduced: 28 },
  },
  'authentication.k8s.io/v1alpha1': {
    SelfSubjectReview: { introduced: 26, deprecated: 29, removed: 32, replacement: 'authentication.k8s.io/v1' },
  },
  'authentication.k8s.io/v1beta1': {
    SelfSubjectReview: { introduced: 27, deprecated: 30, removed: 33, replacement: 'authentication.k8s.io/v1' },
    TokenReview: { introduced: 4, deprecated: 19, removed: 22, replacement: 'authentication.k8s.io/v1' },
  },
  'authorization.k8s.io/v1beta1': {
    LocalSubjectAccessReview: { introduced: 2, deprecated: 19, removed: 22, replacement: 'authorization.k8s.io/v1' },
    SelfSubjectAccessReview: { introduced: 2, deprecated: 19, removed: 22, replacement: 'authorization.k8s.io/v1' },
    SelfSubjectRulesReview: { introduced: 8, deprecated: 19, removed: 22, replacement: 'authorization.k8s.io/v1' },
    SubjectAccessReview: { introduced: 2, deprecated: 19, removed: 22, replacement: 'authorization.k8s.io/v1' },
  },
  'autoscaling/v2': {
    HorizontalPodAutoscaler: { introduced: 23 },
  },
  'batch/v1': {
    CronJob: { introduced: 21 },
  },
  'batch/v1beta1': {
    CronJob: { introduced: 8, deprecated: 21, removed: 25, replacement: 'batch/v1' },
  },
  'certificates.k8s.io/v1alpha1': {
    ClusterTrustBundle: { introduced: 26, deprecated: 34, removed: 37 },
  },
  'certificates.k8s.io/v1beta1': {
    CertificateSigningRequest: { introduced: 12, deprecated: 19, removed: 22, replacement: 'certificates.k8s.io/v1' },
    ClusterTrustBundle: { introduced: 33, deprecated: 37, removed: 40 },
    PodCertificateRequest: { introduced: 35, deprecated: 38, removed: 41 },
  },
  'coordination.k8s.io/v1alpha2': {
    LeaseCandidate: { introduced: 32, deprecated: 35, removed: 38 },
  },
  'coordination.k8s.io/v1beta1': {
    Lease: { introduced: 12, deprecated: 19, removed: 22, replacement: 'coordination.k8s.io/v1' },
    LeaseCandidate: { introduced: 33, deprecated: 36, removed: 39 },
  },
  'discovery.k8s.io/v1': {
    EndpointSlice: { introduced: 21 },
  },
  'discovery.k8s.io/v1beta1': {
    EndpointSlice: { introduced: 16, deprecated: 21, removed: 25, replacement: 'discovery.k8s.io/v1' },
  },
  'events.k8s.io/v1beta1': {
    Event: { introduced: 8, deprecated: 22, removed: 25, replacement: 'events.k8s.io/v1' },
  },
  'extensions/v1beta1': {
    DaemonSet: { introduced: 1, deprecated: 8, removed: 16, replacement: 'apps/v1' },
    Deployment: { introduced: 1, deprecated: 8, removed: 16, replacement: 'apps/v1' },
    DeploymentRollback: { introduced: 2, deprecated: 8, removed: 16 },
    Ingress: { introduced: 1, deprecated: 14, removed: 22, replacement: 'networking.k8s.io/v1' },
    NetworkPolicy: { introduced: 3, deprecated: 9, removed: 16, replacement: 'networking.k8s.io/v1' },
    ReplicaSet: { introduced: 2, deprecated: 8, removed: 16, replacement: 'apps/v1' },
    Scale: { introduced: 1, deprecated: 2, removed: 16 },
  },
  'flowcontrol.apiserver.k8s.io/v1': {
    FlowSchema: { introduced: 29 },
    PriorityLevelConfiguration: { introduced: 29 },
  },
  'flowcontrol.apiserver.k8s.io/v1beta1': {
    FlowSchema: { introduced: 20, deprecated: 23, removed: 26, replacement: 'flowcontrol.apiserver.k8s.io/v1beta3' },
    PriorityLevelConfiguration: {
      introduced: 20,
      deprecated: 23,
      removed: 26,
      replacement: 'flowcontrol.apiserver.k8s.io/v1beta3',
    },
  },
  'flowcontrol.apiserver.k8s.io/v1beta2': {
    FlowSchema: { introduced: 23, deprecated: 26, removed: 29, replacement: 'flowcontrol.apiserver.k8s.io/v1beta3' },
    PriorityLevelConfiguration: {
      introduced: 23,
      deprecated: 26,
      removed: 29,
      replacement: 'flowcontrol.apiserver.k8s.io/v1beta3',
    },
  },
  'flowcontrol.apiserver.k8s.io/v1beta3': {
    FlowSchema: { introduced: 26, deprecated: 29, removed: 32, replacement: 'flowcontrol.apiserver.k8s.io/v1' },
    PriorityLevelConfiguration: {
      introduced: 26,
      deprecated: 29,
      removed: 32,
      replacement: 'flowcontrol.apiserver.k8s.io/v1',
    },
  },
  'networking.k8s.io/v1': {
    IPAddress: { introduced: 33 },
    ServiceCIDR: { introduced: 33 },
  },
  'networking.k8s.io/v1beta1': {
    IPAddress: { introduced: 31, deprecated: 34, removed: 37, replacement: 'networking.k8s.io/v1' },
    Ingress: { introduced: 14, deprecated: 19, removed: 22, replacement: 'networking.k8s.io/v1' },
    IngressClass: { introduced: 18, deprecated: 19, removed: 22, replacement: 'networking.k8s.io/v1 IngressClassList' },
    ServiceCIDR: { introduced: 31, deprecated: 34, removed: 37, replacement: 'networking.k8s.io/v1' },
  },
  'node.k8s.io/v1': {
    RuntimeClass: { introduced: 20 },
  },
  'node.k8s.io/v1beta1': {
    RuntimeClass: { introduced: 13, deprecated: 22, removed: 25, replacement: 'node.k8s.io/v1' },
  },
  'policy/v1': {
    Eviction: { introduced: 22 },
    PodDisruptionBudget: { introduced: 21 },
  },
  'policy/v1beta1': {
    Eviction: { introduced: 5, deprecated: 22, removed: 25, replacement: 'policy/v1' },
    PodDisruptionBudget: { introduced: 5, deprecated: 21, removed: 25, replacement: 'policy/v1' },
  },
  'rbac.authorization.k8s.io/v1beta1': {
    ClusterRole: { introduced: 6, deprecated: 17, removed: 22, replacement: 'rbac.authorization.k8s.io/v1' },
    ClusterRoleBinding: { introduced: 6, deprecated: 17, removed: 22, replacement: 'rbac.authorization.k8s.io/v1' },
    Role: { introduced: 6, deprecated: 17, removed: 22, replacement: 'rbac.authorization.k8s.io/v1' },
    RoleBinding: { introduced: 6, deprecated: 17, removed: 22, replacement: 'rbac.authorization.k8s.io/v1' },
  },
  'resource.k8s.io/v1': {
    DeviceClass: { introduced: 34 },
    ResourceClaim: { introduced: 34 },
    ResourceClaimTemplate: { introduced: 34 },
    ResourceSlice: { introduced: 34 },
  },
  'resource.k8s.io/v1alpha3': {
    DeviceTaintRule: { introduced: 33, deprecated: 36, removed: 39 },
    ResourcePoolStatusRequest: { introduced: 36, deprecated: 39, removed: 42 },
  },
  'resource.k8s.io/v1beta1': {
    DeviceClass: { introduced: 32, deprecated: 35, removed: 38, replacement: 'resource.k8s.io/v1' },
    ResourceClaim: { introduced: 32, deprecated: 35, removed: 38, replacement: 'resource.k8s.io/v1' },
    ResourceClaimTemplate: { introduced: 32, deprecated: 35, removed: 38, replacement: 'resource.k8s.io/v1' },
    ResourceSlice: { introduced: 32, deprecated: 35, removed: 38, replacement: 'resource.k8s.io/v1' },
  },
  'resource.k8s.io/v1beta2': {
    DeviceClass: { introduced: 33, deprecated: 36, removed: 39, replacement: 'resource.k8s.io/v1' },
    DeviceTaintRule: { introduced: 36, deprecated: 39, removed: 42 },
    ResourceClaim: { introduced: 33, deprecated: 36, removed: 39, replacement: 'resource.k8s.io/v1' },
    ResourceClaimTemplate: { introduced: 33, deprecated: 36, removed: 39, replacement: 'resource.k8s.io/v1' },
    ResourceSlice: { introduced: 33, deprecated: 36, removed: 39, replacement: 'resource.k8s.io/v1' },
  },
  'scheduling.k8s.io/v1beta1': {
    PriorityClass: { introduced: 11, deprecated: 14, removed: 22, replacement: 'scheduling.k8s.io/v1' },
  },
  'storage.k8s.io/v1': {
    CSIStorageCapacity: { introduced: 24 },
    VolumeAttributesClass: { introduced: 34 },
  },
  'storage.k8s.io/v1alpha1': {
    CSIStorageCapacity: { introduced: 19, deprecated: 21, removed: 24, replacement: 'storage.k8s.io/v1beta1' },
    VolumeAttachment: { introduced: 9, deprecated: 21, removed: 24, replacement: 'storage.k8s.io/v1' },
    VolumeAttributesClass: { introduced: 29, deprecated: 32, removed: 35, replacement: 'storage.k8s.io/v1' },
  },
  'storage.k8s.io/v1beta1': {
    CSIDriver: { introduced: 14, deprecated: 19, removed: 22, replacement: 'storage.k8s.io/v1' },
    CSINode: { introduced: 14, deprecated: 17, removed: 22, replacement: 'storage.k8s.io/v1' },
    CSIStorageCapacity: { introduced: 21, deprecated: 24, removed: 27, replacement: 'storage.k8s.io/v1' },
    StorageClass: { introduced: 4, deprecated: 19, removed: 22, replacement: 'storage.k8s.io/v1' },
    VolumeAttachment: { introduced: 10, deprecated: 19, removed: 22, replacement: 'storage.k8s.io/v1' },
    VolumeAttributesClass: { introduced: 31, deprecated: 34, removed: 37, replacement: 'storage.k8s.io/v1' },
  },
  'storagemigration.k8s.io/v1beta1': {
    StorageVersionMigration: { introduced: 35, deprecated: 38, removed: 41 },
  },
};
