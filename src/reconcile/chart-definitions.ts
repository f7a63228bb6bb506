import { ANNOTATION, type JsonObject, type KubeObject, type Plugin } from '../api/index.ts';
import type { Chart } from '../charts/charts.ts';
import type { Release } from '../release/record.ts';
import { parseText } from '../render/parse-stream.ts';

/** A definition and the file of the chart that it stands in. */
export interface Definition {
  file: string;
  object: KubeObject;
}

/** Kinds that a chart and the charts in it bring in crds folders: not part of the release, so that Helm never deletes them. */
export async function definitionsIn({ spec }: Plugin, { crds }: Chart): Promise<Definition[]> {
  if (spec.upgrade.crds === 'skip') return [];
  const all = crds.map(async ({ file, text }) => (await parseText(text, file)).map((object) => ({ file, object })));
  return (await Promise.all(all)).flat();
}

/** Without those of charts in it that a condition or tag turns off: what Helm has processed no longer names them. */
export function enabledDefinitions(
  definitions: readonly Definition[],
  { dependencies }: Chart,
  processed: JsonObject,
): KubeObject[] {
  const { dependencies: left } = (processed.metadata ?? {}) as { dependencies?: { name?: string }[] };
  const enabled = new Set((left ?? []).map(({ name }) => name));
  const byName = new Map<string, KubeObject>();
  for (const { file, object } of definitions) {
    const [, folder] = /^charts\/([^/]+)\//.exec(file) ?? [];
    const named = dependencies.filter(({ name }) => name === folder);
    if (named.length === 0 || named.some(({ as }) => enabled.has(as))) byName.set(object.metadata.name, object);
  }
  return [...byName.values()].map(adopting);
}

/** What a revision brought, by its record. */
export async function recordedDefinitions(plugin: Plugin, chart: Chart, record: Release): Promise<KubeObject[]> {
  return enabledDefinitions(await definitionsIn(plugin, chart), chart, record.chart);
}

/** By what is on record: a chart without definitions need not be at hand to know what it declared. */
export function hasDefinitions({ status }: Plugin): boolean {
  return (status?.inventory ?? []).some(({ kind }) => kind === 'CustomResourceDefinition');
}

/** Whoever installed a definition before: the chart's objects need it, and it is taken over where nobody declares it now. */
function adopting(object: KubeObject): KubeObject {
  const annotations = { ...object.metadata.annotations, [ANNOTATION.adopt]: 'true' };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
