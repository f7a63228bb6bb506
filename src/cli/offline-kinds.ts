import { EspalierError, groupOf } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { isBuiltIn } from '../converge/stages.ts';

/** Of Kubernetes' own kinds, those that live in no namespace. */
const CLUSTER_WIDE = new Set([
  'APIService',
  'CertificateSigningRequest',
  'ClusterRole',
  'ClusterRoleBinding',
  'ClusterTrustBundle',
  'CSIDriver',
  'CSINode',
  'CustomResourceDefinition',
  'DeviceClass',
  'FlowSchema',
  'IngressClass',
  'IPAddress',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'MutatingWebhookConfiguration',
  'Namespace',
  'Node',
  'PersistentVolume',
  'PriorityClass',
  'PriorityLevelConfiguration',
  'ResourceSlice',
  'RuntimeClass',
  'ServiceCIDR',
  'StorageClass',
  'StorageVersionMigration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
  'VolumeAttachment',
  'VolumeAttributesClass',
]);

/** What discovery would say, where there is no cluster to ask: Kubernetes' own kinds, and nothing of anybody else's. */
export const offlineKinds: Pick<KubeClient, 'resource'> = {
  async resource(apiVersion, kind) {
    if (!isBuiltIn({ apiVersion })) {
      throw new EspalierError(
        'KubeKindUnknown',
        `the kind ${kind} of ${groupOf(apiVersion)} is not known without a cluster`,
        { data: { apiVersion, kind } },
      );
    }
    return {
      apiVersion,
      kind,
      plural: `${kind.toLowerCase()}s`,
      namespaced: !CLUSTER_WIDE.has(kind),
      verbs: [],
      subresources: [],
      shortNames: [],
    };
  },
};
