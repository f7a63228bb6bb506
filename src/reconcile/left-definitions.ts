import { describeRef, type KubeObject, type Plugin, refKey, refOf } from '../api/index.ts';
import type { Rendered } from './rendered.ts';

export interface LeftDefinition {
  key: string;
  /** For people. */
  what: string;
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
    if (spec.upgrade.crds === 'create') return [{ key, what: describeRef(refOf(declared)) }];
    const newer = whyNewer(declared, there);
    const what = describeRef(refOf(declared));
    return newer === undefined
      ? []
      : [{ key, what, why: `${what} is newer in the cluster (${newer}) and is not downgraded` }];
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
    const order = a === undefined || b === undefined ? 0 : compareVersions(a, b);
    if (order > 0) return `${mark} ${a}, in the chart ${b}`;
    if (order < 0) return undefined;
  }
  return whyRicher(declared, live);
}

/** Without any mark: a schema that only lacks fields is an older one. What is stored in those fields would be dropped. */
function whyRicher(declared: KubeObject, live: KubeObject): string | undefined {
  for (const { name, schema } of versionsOf(live)) {
    const other = versionsOf(declared).find((version) => version.name === name);
    const [there, here] = [fieldsOf(schema?.openAPIV3Schema), fieldsOf(other?.schema?.openAPIV3Schema)];
    const lost = [...there].filter((field) => !here.has(field));
    const isOlder = lost.length > 0 && [...here].every((field) => there.has(field));
    if (isOlder) return `${name} has ${lost.slice(0, 3).join(', ')}, which the chart lacks`;
  }
  return undefined;
}

interface FieldSchema {
  properties?: Record<string, FieldSchema>;
  items?: FieldSchema;
  additionalProperties?: FieldSchema | boolean;
}

/** `.spec.size`, `.spec.ports[].name` */
function fieldsOf(schema: FieldSchema | undefined, path = '', found = new Set<string>()): Set<string> {
  for (const [name, below] of Object.entries(schema?.properties ?? {})) {
    found.add(`${path}.${name}`);
    fieldsOf(below, `${path}.${name}`, found);
  }
  if (schema?.items !== undefined) fieldsOf(schema.items, `${path}[]`, found);
  if (typeof schema?.additionalProperties === 'object') fieldsOf(schema.additionalProperties, `${path}.*`, found);
  return found;
}

function markOf({ metadata }: KubeObject, mark: string): string | undefined {
  return metadata.labels?.[mark] ?? metadata.annotations?.[mark];
}

interface Version {
  name: string;
  served: boolean;
  schema?: { openAPIV3Schema?: FieldSchema };
}

function versionsOf({ spec }: KubeObject): Version[] {
  return ((spec ?? {}) as { versions?: Version[] }).versions ?? [];
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
