import type { PackageFault } from './fault.ts';
import { EXPANSION_FILE } from './format.ts';
import { isLeftOut } from './left-out.ts';
import type { ReadPackage } from './read-package.ts';

export interface ClusterRules {
  /** Conditions that may be left to operators of packages. */
  delegateConditions: readonly string[];
  /** Whose rules these are: key of the Sync. */
  sync: string | undefined;
  /** Of the cluster. */
  labels: Readonly<Record<string, string>>;
}

/**
 * Everything that keeps a package from this cluster: what is wrong with it anywhere, and what is not allowed here. One that
 * is for another cluster does nothing here that could be forbidden.
 */
export function faultsHere(
  { expansion, at, faults }: ReadPackage,
  { delegateConditions, sync, labels }: ClusterRules,
): PackageFault[] {
  if (isLeftOut(expansion, labels)) return [...faults];
  const field = 'create_cluster_delegate_conditions';
  const refused = expansion[field].flatMap((condition, index): PackageFault[] => {
    if (condition === '' || delegateConditions.includes(condition)) return [];
    const where = sync === undefined ? 'a Sync, which this Plugin has none of' : `Sync ${sync}`;
    const message = `${field}: ${JSON.stringify(condition.slice(0, 200))} may not be delegated here: add it to spec.expansions.delegateConditions of ${where}`;
    return [{ file: EXPANSION_FILE, ...at(field, index), message }];
  });
  return [...faults, ...refused];
}
