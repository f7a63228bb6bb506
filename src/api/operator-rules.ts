/** One rule of a Role, as RBAC writes it. */
export interface PolicyRule {
  apiGroups: string[];
  resources: string[];
  resourceNames?: string[];
  verbs: string[];
}

export interface OperatorRules {
  /** For a Role in the operator's own namespace. */
  own: PolicyRule[];
  /** For a Role where the custom object is, or a ClusterRole where it has no namespace. Empty: the record itself tells. */
  object: PolicyRule[];
}

/**
 * Exactly what the operator SDK needs: to find records (RBAC knows no labels, so that is every ConfigMap of the
 * namespace), to write into this one, and to watch one other object and set conditions in its status, or in the data of
 * a ConfigMap.
 */
export function operatorRules(record: string, on?: { group: string; plural: string; name: string }): OperatorRules {
  const own: PolicyRule[] = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }];
  if (on === undefined) {
    own.push({ apiGroups: [''], resources: ['configmaps'], resourceNames: [record], verbs: ['patch'] });
    return { own, object: [] };
  }
  const { group, plural, name } = on;
  const place = { apiGroups: [group], resourceNames: [name] };
  const holder = group === '' && plural === 'configmaps' ? plural : `${plural}/status`;
  return {
    own,
    object: [
      { ...place, resources: [plural], verbs: ['get', 'list', 'watch'] },
      { ...place, resources: [holder], verbs: ['patch'] },
    ],
  };
}
