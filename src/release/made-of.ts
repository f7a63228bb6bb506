import { canonicalJson, type Json, type JsonObject } from '../api/index.ts';
import type { Release } from './record.ts';

/** What a revision is made of, as far as Helm puts it on record. */
export type Ingredients = Pick<Release, 'chart' | 'config'>;

/**
 * Whether two revisions are made of the same chart and the same values of people. What they rendered to may differ all the
 * same: random values, generated certificates, and what templates look up.
 */
export function madeOfSame(a: Ingredients, b: Ingredients): boolean {
  return canonicalJson(essence(a)) === canonicalJson(essence(b));
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
  return Object.fromEntries(files.map(({ name, data }) => [String(name), data ?? '']));
}

function mapOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
