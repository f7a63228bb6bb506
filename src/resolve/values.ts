import type { Json, JsonObject } from '../api/index.ts';

/** Where a plugin's values come from, weakest first. */
export interface ValueLayers {
  /** What an add-on's own folder gives as parameters; a chart has its values.yaml instead. */
  defaults?: JsonObject | undefined;
  /** The Sync's values, meant for everything that it installs. */
  global?: JsonObject | undefined;
  /** What an Extension says where its instance says nothing. */
  parameters?: JsonObject | undefined;
  /** What each entry of valuesFrom holds, in the order of the list. */
  from?: readonly JsonObject[];
  /** The plugin's own. */
  values?: JsonObject | undefined;
}

/** The values for a chart. A null stays: Helm takes it as "delete the chart's default". */
export function chartValues(layers: ValueLayers): JsonObject {
  const global =
    layers.global === undefined || Object.keys(layers.global).length === 0 ? {} : { global: layers.global };
  return [layers.defaults ?? {}, global, ...own(layers)].reduce(mergeValues);
}

/** The values for templates with bare names: the Sync's stand beside the plugin's own, and a null deletes. */
export function templateValues(layers: ValueLayers): JsonObject {
  return withoutNulls([layers.defaults ?? {}, layers.global ?? {}, ...own(layers)].reduce(mergeValues));
}

function own({ parameters, from, values }: ValueLayers): JsonObject[] {
  return [parameters ?? {}, ...(from ?? []), values ?? {}];
}

/** As Helm merges values files: maps are merged, anything else is replaced, a null is kept for whoever knows the defaults. */
export function mergeValues(base: JsonObject, over: JsonObject): JsonObject {
  const merged = new Map(Object.entries(base));
  for (const [name, value] of Object.entries(over)) {
    const before = merged.get(name);
    merged.set(name, isMap(before) && isMap(value) ? mergeValues(before, value) : value);
  }
  return Object.fromEntries(merged);
}

/** Nulls in lists stay: there they are items. */
export function withoutNulls(values: JsonObject): JsonObject {
  const kept = Object.entries(values).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.map(([name, value]) => [name, isMap(value) ? withoutNulls(value) : value]));
}

function isMap(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
