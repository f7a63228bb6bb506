import type { Target } from './kinds/plugin-rules.ts';
import { groupOf, type KubeObject, versionOf } from './objects.ts';

/** Whether a target (of a patch, of an ignore rule) means this object. What the target leaves out matches everything. */
export function matchesTarget(object: KubeObject, target: Target | undefined): boolean {
  if (target === undefined) return true;
  const { group, version, kind, name, namespace, labelSelector } = target;
  return (
    (group === undefined || group === groupOf(object.apiVersion)) &&
    (version === undefined || version === versionOf(object.apiVersion)) &&
    (kind === undefined || kind === object.kind) &&
    (name === undefined || name === object.metadata.name) &&
    (namespace === undefined || namespace === object.metadata.namespace) &&
    (labelSelector === undefined || matchesLabels(object.metadata.labels ?? {}, labelSelector))
  );
}

/** Kubernetes' selector syntax: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas. */
export function matchesLabels(labels: Readonly<Record<string, string>>, selector: string): boolean {
  return selector
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .every((part) => matchesRequirement(labels, part));
}

function matchesRequirement(labels: Readonly<Record<string, string>>, requirement: string): boolean {
  const labelOf = (name: string) => (Object.hasOwn(labels, name) ? labels[name] : undefined);
  const set = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(requirement);
  if (set !== null) {
    const [, name = '', operator, list = ''] = set;
    const value = labelOf(name);
    const isListed = value !== undefined && list.split(',').some((item) => item.trim() === value);
    return isListed === (operator === 'in');
  }
  const comparison = /^([^=!\s]+)\s*(!=|==|=)\s*(\S*)$/.exec(requirement);
  if (comparison !== null) {
    const [, name = '', operator, value = ''] = comparison;
    return (labelOf(name) === value) === (operator !== '!=');
  }
  if (requirement.startsWith('!')) return labelOf(requirement.slice(1).trim()) === undefined;
  return labelOf(requirement) !== undefined;
}
