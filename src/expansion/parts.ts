import { type Delegation, delegationName, LABEL, type Plugin, safeName } from '../api/index.ts';
import type { PackageChart, ReadPackage } from './read-package.ts';
import { HOOKS } from './verify.ts';

/** Helm's limit for the name of a release. */
const LONGEST_RELEASE = 53;
export const LONGEST_NAME = 63;

/** What a package leaves to its operator; undefined for one that leaves nothing. `plugin`: that of the whole package. */
export function delegationOf(
  plugin: Plugin,
  { expansion, ...found }: Pick<ReadPackage, 'expansion' | 'id'>,
): Delegation | undefined {
  const conditions = expansion.create_cluster_delegate_conditions;
  if (conditions.length === 0) return undefined;
  const name = expansionName(plugin);
  const record = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    namespace: targetOf(plugin),
    name: delegationName(name, versionOf({ expansion, ...found })),
  };
  const on = plugin.spec.expansion?.conditionsOn;
  return { expansion: name, record, conditions, ...(on === undefined ? {} : { on: { ...on } }) };
}

/** Of the package; without one, of its content. */
export function versionOf({ expansion, id }: Pick<ReadPackage, 'expansion' | 'id'>): string {
  return expansion.expansion_version ?? id.slice(id.indexOf(':') + 1).slice(0, 10);
}

/** Name of the Plugin that is the whole package, asked of it or of a step. */
export function expansionName({ metadata, spec }: Plugin): string {
  return (spec.step === undefined ? undefined : metadata.labels?.[LABEL.expansion]) ?? metadata.name;
}

export function targetOf({ metadata, spec }: Plugin): string {
  return spec.namespace?.name ?? metadata.namespace ?? '';
}

export function stepName({ metadata }: Plugin, step: (typeof HOOKS)[number] | 'operator'): string {
  return safeName(`${metadata.name}-${step}`, LONGEST_NAME);
}

/** A chart may be called as a step is. */
export function chartName({ metadata }: Plugin, { name }: PackageChart): string {
  const isTaken = ['operator', ...HOOKS].includes(name);
  return safeName(`${metadata.name}-${isTaken ? `chart-${name}` : name}`, LONGEST_RELEASE);
}
