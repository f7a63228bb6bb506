import {
  API_VERSION,
  applyDefaults,
  canonicalJson,
  type Delegation,
  type ExpansionStep,
  type Gate,
  type Json,
  type JsonObject,
  type KubeObject,
  LABEL,
  type Plugin,
  type Source,
  safeName,
} from '../api/index.ts';
import { chartName, delegationOf, stepName } from './parts.ts';
import type { PackageChart, ReadPackage } from './read-package.ts';

export interface ExpandInput {
  plugin: Plugin;
  package: ReadPackage;
  /** Those of the package, and over them those of the Plugin. */
  values: JsonObject;
  /** Some of them come from Secrets, and must stay in one. */
  hasSecrets: boolean;
  sources: PackageSources;
}

/** How what a package becomes refers to it, at this very content. */
export interface PackageSources {
  package: Source;
  chart(file: string): Source;
  /** The same for who may ask much later, and from elsewhere. */
  catalogue(file: string): Source;
}

/** What is said of the whole holds for each part. */
const PASSED_ON = ['apply', 'drift', 'deletion', 'timeout'] as const;

/**
 * The Plugins that a package stands for: its hooks and its operator, each a step of their own, and one a chart, tied
 * together by what waits for what. And its charts for the catalogue.
 */
export function expandPackage(input: ExpandInput): KubeObject[] {
  const { plugin, package: found } = input;
  const { charts, hooks } = found;
  const delegation = delegationOf(plugin, found);
  const hasOperator = found.expansion.operator !== undefined || delegation !== undefined;
  const gates = delegation === undefined ? [] : gatesOf(plugin, found, delegation);
  const before = [
    ...(hooks.has('pre-install') ? [stepName(plugin, 'pre-install')] : []),
    ...(hasOperator ? [stepName(plugin, 'operator')] : []),
  ];
  const chartNames = charts.map((chart) => chartName(plugin, chart));
  // A chart that is the same in the next version is ready before the first hook of that has run.
  const last = [...before, ...chartNames];
  const steps: KubeObject[] = [];
  const step = (name: ExpansionStep, needs: readonly string[], more: JsonObject = {}): void => {
    steps.push(stepPlugin(input, name, { ...(needs.length === 0 ? {} : { dependsOn: named(needs) }), ...more }));
  };
  if (hooks.has('pre-install')) step('pre-install', []);
  if (hasOperator) step('operator', before.slice(0, -1));
  const opened = gates.length === 0 ? {} : { gates: gates as unknown as Json };
  if (hooks.has('post-install')) step('post-install', last, opened);
  if (hooks.has('post-cluster-ready')) {
    const nodes = { apiVersion: 'v1', kind: 'Node', all: true };
    const needs = hooks.has('post-install') ? [stepName(plugin, 'post-install')] : last;
    step('post-cluster-ready', [], { dependsOn: [...named(needs), nodes], ...opened });
  }
  return [
    ...charts.flatMap((chart) => chartObjects(input, chart, { dependsOn: before, gates })),
    ...steps,
    ...charts.map((chart) => catalogueEntry(input, chart)),
  ];
}

function gatesOf(plugin: Plugin, { expansion }: ReadPackage, { record, on, conditions }: Delegation): Gate[] {
  const by =
    expansion.operator === undefined
      ? `the operator of expansion ${plugin.metadata.name}`
      : `operator ${stepName(plugin, 'operator')}`;
  return conditions.map((condition) => ({ ...(on ?? record), condition, by, timeout: plugin.spec.timeout }));
}

function named(names: readonly string[]): JsonObject[] {
  return names.map((name) => ({ name }));
}

function stepPlugin({ plugin, sources }: ExpandInput, step: ExpansionStep, more: JsonObject): KubeObject {
  const { expansion, defaults, parameters, values, valuesFrom } = plugin.spec;
  return nested(plugin, stepName(plugin, step), {
    kind: 'expansion',
    step,
    source: sources.package,
    ...given({ expansion, defaults, parameters, values, valuesFrom }),
    ...more,
  });
}

/** The chart as a Helm release. Values that must stay secret come to it in a Secret. */
function chartObjects(
  { plugin, values, hasSecrets, sources }: ExpandInput,
  chart: PackageChart,
  { dependsOn, gates }: { dependsOn: readonly string[]; gates: readonly Gate[] },
): KubeObject[] {
  const name = chartName(plugin, chart);
  const own = valuesFor(chart, values);
  const isSecret = hasSecrets && Object.keys(own).length > 0;
  const secret = safeName(`${name}-values`);
  const release = nested(plugin, name, {
    kind: 'helm',
    source: sources.chart(chart.file),
    ...(isSecret ? { valuesFrom: [{ kind: 'Secret', name: secret, key: 'values.yaml' }] } : {}),
    ...(isSecret || Object.keys(own).length === 0 ? {} : { values: own }),
    ...(dependsOn.length === 0 ? {} : { dependsOn: named(dependsOn) }),
    ...(gates.length === 0 ? {} : { gates }),
  });
  if (!isSecret) return [release];
  const metadata = { name: secret, ...namespaceOf(plugin), labels: { [LABEL.expansion]: plugin.metadata.name } };
  const data = { 'values.yaml': JSON.stringify(own) };
  return [{ apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', stringData: data }, release];
}

/** What the values say under the chart's name, and what they say to all. */
function valuesFor({ name }: PackageChart, values: JsonObject): JsonObject {
  const own = values[name];
  return { ...(isMap(own) ? own : {}), ...(isMap(values.global) ? { global: values.global } : {}) };
}

function catalogueEntry({ plugin, sources }: ExpandInput, chart: PackageChart): KubeObject {
  const { name } = plugin.metadata;
  return {
    apiVersion: API_VERSION,
    kind: 'Extension',
    metadata: { name: chartName(plugin, chart), labels: { [LABEL.expansion]: name } },
    spec: {
      displayName: chart.name,
      category: 'Expansions',
      description: `Chart ${chart.name} of expansion ${name}.`,
      class: 'accessible',
      parameters: { type: 'object', additionalProperties: true },
      versions: [{ app: chart.version, source: sources.catalogue(chart.file) }],
    },
  };
}

function nested(plugin: Plugin, name: string, spec: Record<string, unknown>): KubeObject {
  const { namespace } = plugin.spec;
  const passed = Object.fromEntries(PASSED_ON.flatMap((field) => said(plugin, field)));
  return {
    apiVersion: API_VERSION,
    kind: 'Plugin',
    metadata: { name, ...namespaceOf(plugin), labels: { [LABEL.expansion]: plugin.metadata.name } },
    spec: { ...spec, ...given({ namespace, ...passed }) },
  };
}

/** What somebody said of the whole, without what is so anyway. */
function said({ spec }: Plugin, field: (typeof PASSED_ON)[number]): [string, unknown][] {
  const isDefault = canonicalJson(spec[field]) === canonicalJson(DEFAULTS[field]);
  return isDefault ? [] : [[field, spec[field]]];
}

const DEFAULTS = applyDefaults({ apiVersion: API_VERSION, kind: 'Plugin', metadata: { name: '' }, spec: {} })
  .spec as Plugin['spec'];

function namespaceOf({ metadata: { namespace } }: Plugin): { namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}

function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function isMap(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
