import {
  API_VERSION,
  type JsonObject,
  type KubeObject,
  type Plugin,
  type PluginDeclaration,
  type Violation,
  validateAs,
  validateObject,
} from '../api/index.ts';
import { describeFound, dotted } from '../api/validate/describe.ts';
import { dependencyOf } from './kubegems-dependencies.ts';
import { KUBEGEMS_API_VERSION, KUBEGEMS_PLUGIN, type KubegemsSpec } from './kubegems-kind.ts';
import { sourceOf } from './kubegems-source.ts';
import { type Pointers, theirPointer } from './pointers.ts';

export interface TranslateOptions {
  /** Whether it stands in a repository: then a folder of it can be named. */
  inRepository: boolean;
}

export type Translation =
  | {
      plugin: PluginDeclaration;
      /** Where the KubeGems object says what the Plugin holds at a JSON pointer. */
      pointerOf(pointer: string): string;
    }
  | { faults: Violation[] };

/** Written by kubectl for itself: of no use on another object. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const KINDS: Readonly<Record<NonNullable<KubegemsSpec['kind']>, Plugin['spec']['kind']>> = {
  helm: 'helm',
  kustomize: 'kustomize',
  template: 'template',
  native: 'manifests',
};

/**
 * The Plugin of ours that a Plugin of KubeGems stands for, of the same name and namespace, or everything that is wrong
 * with it, in its own terms.
 */
export function translateKubegems(object: KubeObject, options: TranslateOptions): Translation {
  const wrong = wrongVersion(object) ?? validateAs(KUBEGEMS_PLUGIN, object);
  if (wrong.length > 0) return { faults: wrong };
  const spec = object.spec as KubegemsSpec; // checked just now
  const disabled = oneOf(spec.disabled, '/spec/disabled', negated(spec.enabled), '/spec/enabled');
  const url = oneOf(spec.url, '/spec/url', spec.repo, '/spec/repo');
  const chart = oneOf(spec.chart, '/spec/chart', spec.name, '/spec/name');
  const kind = spec.kind ?? 'helm';
  const source = sourceOf({
    ...{ kind, url: url.value, urlAt: url.at, chart: chart.value, chartAt: chart.at, name: object.metadata.name },
    ...{ version: spec.version, path: spec.path, inRepository: options.inRepository },
  });
  const needs = (spec.dependencies ?? []).map(dependencyOf);
  const faults = [disabled, url, chart, source, ...needs].flatMap((one) => ('fault' in one ? one.fault : []));
  if ('fault' in source || faults.length > 0) return { faults };

  const plugin = {
    apiVersion: API_VERSION,
    kind: 'Plugin',
    metadata: metadataOf(object),
    spec: {
      ...(disabled.value === true ? { enabled: false } : {}),
      kind: KINDS[kind],
      source: source.source,
      ...(spec.installNamespace === undefined ? {} : { namespace: { name: spec.installNamespace, create: true } }),
      ...(spec.values === undefined ? {} : { values: withoutNulls(spec.values) }),
      ...(spec.valuesFrom === undefined ? {} : { valuesFrom: spec.valuesFrom }),
      ...(needs.length === 0 ? {} : { dependsOn: needs.flatMap((one) => ('needs' in one ? one.needs : [])) }),
    },
  };
  const pointers: Pointers = [
    ['/metadata', '/metadata'],
    ['/spec', '/spec'],
    ['/spec/enabled', disabled.at],
    ['/spec/namespace', '/spec/installNamespace'],
    ['/spec/namespace/name', '/spec/installNamespace'],
    ['/spec/dependsOn', '/spec/dependencies'],
    ...source.pointers,
  ];
  const pointerOf = (pointer: string): string => theirPointer(pointers, pointer);
  const left = validateObject(plugin).map((violation) => inTheirTerms(violation, pointerOf));
  return left.length > 0 ? { faults: left } : { plugin: plugin as PluginDeclaration, pointerOf };
}

function wrongVersion({ apiVersion }: KubeObject): Violation[] | undefined {
  if (apiVersion === KUBEGEMS_API_VERSION) return undefined;
  const expected = KUBEGEMS_API_VERSION;
  return [
    { path: '/apiVersion', message: `apiVersion is ${describeFound(apiVersion)}, expected ${expected}`, expected },
  ];
}

/** One field under its two names. Both may be given where they say the same. */
function oneOf<T>(
  later: T | undefined,
  laterAt: string,
  older: T | undefined,
  olderAt: string,
): { value: T | undefined; at: string } & ({ fault: Violation } | object) {
  if (later === undefined && older !== undefined) return { value: older, at: olderAt };
  const answer = { value: later, at: laterAt };
  if (older === undefined || older === later) return answer;
  const expected = 'one of the two';
  const message = `${dotted(olderAt)} and ${dotted(laterAt)} are two names of one field and say different things, expected ${expected}`;
  return { ...answer, fault: { path: olderAt, message, expected } };
}

function negated(value: boolean | undefined): boolean | undefined {
  return value === undefined ? undefined : !value;
}

function metadataOf({ metadata }: KubeObject): KubeObject['metadata'] {
  const { name, namespace, labels, annotations } = metadata;
  const kept = Object.entries(annotations ?? {}).filter(([key]) => key !== LAST_APPLIED);
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
    ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }),
  };
}

/** KubeGems drops nulls from values, so that there they don't delete a default of the chart, as they would in Helm. */
function withoutNulls(values: JsonObject): JsonObject {
  const kept = Object.entries(values).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.map(([name, value]) => [name, isMap(value) ? withoutNulls(value) : value]));
}

function isMap(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of what the translation let through; the field is named as its writer knows it. */
function inTheirTerms(violation: Violation, pointerOf: (pointer: string) => string): Violation {
  const path = pointerOf(violation.path);
  return { ...violation, path, message: violation.message.replace(dotted(violation.path), dotted(path)) };
}
