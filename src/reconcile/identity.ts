import { GROUP, groupOf, type KubeObject, type ObjectRef } from '../api/index.ts';

const PART_OF = 'app.kubernetes.io/part-of';

/**
 * Tells what the agent itself is made of: its namespace, its kinds and the Syncs it follows, and whatever carries the
 * label of its own manifests. The agent never removes any of it (law 5).
 */
export function agentIdentity(namespace: string): (object: ObjectRef | KubeObject) => boolean {
  return (object) => {
    const { apiVersion, kind } = object;
    const metadata =
      'metadata' in object && typeof object.metadata === 'object' ? (object as KubeObject).metadata : undefined;
    const name = metadata?.name ?? ('name' in object ? String(object.name) : '');
    const within = metadata?.namespace ?? ('namespace' in object ? object.namespace : undefined);
    if (kind === 'Namespace' && apiVersion === 'v1') return name === namespace;
    if (kind === 'CustomResourceDefinition') return name.endsWith(`.${GROUP}`);
    if (kind === 'Sync' && groupOf(apiVersion) === GROUP) return true;
    if (metadata?.labels?.[PART_OF] === 'espalier') return true;
    if (['ClusterRole', 'ClusterRoleBinding'].includes(kind)) return /^espalier(-agent|:|$)/.test(name);
    return (
      within === namespace &&
      ['Deployment', 'ServiceAccount', 'Service', 'Lease', 'NetworkPolicy', 'Role', 'RoleBinding'].includes(kind) &&
      /^espalier(-agent)?$/.test(name)
    );
  };
}
