import { type KubeObject, type Plugin, refKey, refOf } from '../api/index.ts';
import type { Rendered } from './rendered.ts';

export interface LeftDefinition {
  key: string;
  /** Why it is left, where that is news to somebody. */
  why?: string;
}

const VERSION_MARKS = ['app.kubernetes.io/version', 'controller-gen.kubebuilder.io/version'];

/**
 * Definitions from a chart's crds folder that stay as they are in the cluster: those that the Plugin wants created only,
 * and those that are newer there. Taking away a version that is served breaks who uses it, and may lose what is stored.
 */
export function leftDefinitions(
  { spec }: Pick<Plugin, 'spec'>,
  { objects, definitions }: Pick<Rendered, 'objects' | 'definitions'>,
  live: ReadonlyMap<string, KubeObject>,
): LeftDefinition[] {
  if (definitions.size === 0) return [];
  return objects.flatMap((declared): LeftDefinition[] => {
    const key = refKey(refOf(declared));
    const there = live.get(key);
    if (!definitions.has(key) || there === undefined) return [];
    if (spec.upgrade.crds === 'create') return [{ key }];
    const newer = whyNewer(declared, there);
    const name = declared.metadata.name;
    return newer === undefined
      ? []
      : [{ key, why: `CustomResourceDefinition ${name} is newer in the cluster (${newer}) and is not downgraded` }];
  });
}

function whyNewer(declared: KubeObject, live: KubeObject): string | undefined {
  const has = new Set(versionsOf(declared).map(({ name }) => name));
  const stored = ((live.status ?? {}) as { storedVersions?: string[] }).storedVersions ?? [];
  const lost = [
    ...new Set([
      ...versionsOf(live)
        .filter(({ served }) => served)
        .map(({ name }) => name),
      ...stored,
    ]),
  ].filter((name) => !has.has(name));
  if (lost.length > 0) return `it has ${lost.join(', ')}, which the chart lacks`;
  for (const mark of VERSION_MARKS) {
    const [a, b] = [markOf(live, mark), markOf(declared, mark)];
    if (a !== undefined && b !== undefined && compareVersions(a, b) > 0) return `${mark} ${a}, in the chart ${b}`;
  }
  return undefined;
}

function markOf({ metadata }: KubeObject, mark: string): string | undefined {
  return metadata.labels?.[mark] ?? metadata.annotations?.[mark];
}

function versionsOf({ spec }: KubeObject): { name: string; served: boolean }[] {
  return ((spec ?? {}) as { versions?: { name: string; served: boolean }[] }).versions ?? [];
}

/** By their numbers; what is no version is never newer. */
function compareVersions(a: string, b: string): number {
  const [first, second] = [numbersOf(a), numbersOf(b)];
  if (first === undefined || second === undefined) return 0;
  for (const [index, number] of first.entries()) {
    const difference = number - (second[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function numbersOf(version: string): number[] | undefined {
  const found = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version);
  return found === null ? undefined : [found[1], found[2], found[3] ?? '0'].map(Number);
}
