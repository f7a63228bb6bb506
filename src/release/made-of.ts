import { canonicalJson, type Json, type JsonObject, type KubeObject, refKey, refOf } from '../api/index.ts';
import type { Release } from './record.ts';

/** What a revision is made of, as far as Helm puts it on record. */
export type Ingredients = Pick<Release, 'chart' | 'config'>;

/** They only say which charts are in a chart, and charts of the older API version have them among their files. */
export const DEPENDENCY_FILES: readonly string[] = ['requirements.yaml', 'requirements.lock', 'Chart.lock'];

/**
 * Whether two revisions are made of the same chart and the same values of people. What they rendered to may differ all the
 * same: random values, generated certificates, and what templates look up. Charts in the chart are not on record.
 */
export function madeOfSame(a: Ingredients, b: Ingredients): boolean {
  return canonicalJson(essence(a)) === canonicalJson(essence(b));
}

/** The charts in a chart that the objects of a manifest came from. */
export function chartsIn({ manifest }: Pick<Release, 'manifest'>): string[] {
  const names = [...manifest.matchAll(/^# Source: [^/\n]+\/charts\/([^/\n]+)\//gm)].map(([, name = '']) => name);
  return [...new Set(names)];
}

/** Whether two renderings are the same objects, but for the labels that helm-controller adds to what Helm rendered. */
export function sameObjects(a: readonly KubeObject[], b: readonly KubeObject[]): boolean {
  const whole = (objects: readonly KubeObject[]): string =>
    canonicalJson(Object.fromEntries(objects.map((object) => [refKey(refOf(object)), plain(object)])) as Json);
  return whole(a) === whole(b);
}

function plain({ metadata: { labels = {}, ...metadata }, ...object }: KubeObject): unknown {
  const kept = Object.entries(labels).filter(([name]) => !name.startsWith('helm.toolkit.fluxcd.io/'));
  return { ...object, metadata: { ...metadata, ...(kept.length === 0 ? {} : { labels: Object.fromEntries(kept) }) } };
}

/** Of the chart's own description only what it is called counts: fetching fills in the rest in more than one way. */
function essence({ chart, config }: Ingredients): Json {
  const { name, version } = mapOf(chart.metadata);
  const [templates, files] = [filesOf(chart.templates), filesOf(chart.files)];
  const [values, schema] = [chart.values ?? {}, chart.schema ?? null];
  return { name: name ?? null, version: version ?? null, templates, files, values, schema, config: config ?? {} };
}

/** By name: archives of one chart may hold their files in any order, and with any time. */
function filesOf(list: Json | undefined): Json {
  const files = Array.isArray(list) ? list.map(mapOf) : [];
  const content = files.filter(({ name }) => !DEPENDENCY_FILES.includes(String(name)));
  return Object.fromEntries(content.map(({ name, data }) => [String(name), data ?? '']));
}

function mapOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
