import type { PackageFault } from './fault.ts';
import { EXPANSION_FILE } from './format.ts';
import type { ReadPackage } from './read-package.ts';

export interface ClusterRules {
  /** Conditions that may be left to operators of packages. */
  delegateConditions: readonly string[];
  /** Whose rules these are: key of the Sync. */
  sync: string | undefined;
}

/** Everything that keeps a package from this cluster: what is wrong with it anywhere, and what is not allowed here. */
export function faultsHere(
  { expansion, at, faults }: ReadPackage,
  { delegateConditions, sync }: ClusterRules,
): PackageFault[] {
  const field = 'create_cluster_delegate_conditions';
  const refused = expansion[field].flatMap((condition, index): PackageFault[] => {
    if (condition === '' || delegateConditions.includes(condition)) return [];
    const where = sync === undefined ? 'a Sync, which this Plugin has none of' : `Sync ${sync}`;
    const message = `${field}: ${JSON.stringify(condition.slice(0, 200))} may not be delegated here: add it to spec.expansions.delegateConditions of ${where}`;
    return [{ file: EXPANSION_FILE, ...at(field, index), message }];
  });
  return [...faults, ...refused];
}
