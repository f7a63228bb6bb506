import { isScalar, isMap as isYamlMap, parseDocument, stringify, type YAMLMap } from 'yaml';
import { canonicalJson, type JsonObject, LABEL } from '../api/index.ts';
import { parseValues } from '../declare/values-text.ts';
import { placeInChart, TEMPLATES } from '../render/addon-chart.ts';
import { isMap } from '../resolve/json-schema.ts';
import { withoutNulls } from '../resolve/values.ts';
import { guessedIntegers, kindOf } from './kinds.ts';
import { portTemplates } from './port-templates.ts';
import { type Addon, namespaceOf } from './read-addon.ts';

export interface MadeChart {
  files: Map<string, Uint8Array | string>;
  /** What is not as before, for people. */
  notes: string[];
}

/** Annotations of a Chart.yaml that tell what Helm has no field for. */
export const NEEDS = 'espalier.dev/depends-on';
export const NAMESPACE = 'espalier.dev/namespace';

const MOST_NAMED = 5;

/** The chart of an add-on, or why there can't be one. */
export function chartOf(addon: Addon, version: string): MadeChart | { faults: string[] } {
  const notes: string[] = [];
  const files = new Map<string, Uint8Array | string>();
  const templates: { path: string; at: string; text: string }[] = [];
  for (const { name, content } of addon.files) {
    const place = placeInChart(name);
    if (place === undefined)
      notes.push(`${name} is left out: the name means something to Helm, and templates can't read it`);
    else if (place.path.startsWith(TEMPLATES))
      templates.push({ path: name, at: place.path, text: Buffer.from(content).toString('utf8') });
    else files.set(place.path, content);
  }
  const ported = portTemplates(templates, kindOf(addon.schema, addon.defaults));
  if ('faults' in ported) return ported;
  templates.forEach(({ at }, index) => void files.set(at, ported.texts[index] ?? ''));
  const known = new Set([...Object.keys(addon.defaults), ...Object.keys(propertiesOf(addon))]);
  for (const [name, place] of ported.used)
    if (!known.has(name))
      notes.push(
        `${place} is no parameter of the add-on: what the Sync gives to all is .Values.global.${name} in a chart`,
      );
  const guessed = guessedIntegers(addon.schema, addon.defaults);
  if (guessed.length > 0) notes.push(aboutIntegers(guessed));
  const chart = new Map<string, Uint8Array | string>([
    ['Chart.yaml', stringify(chartYaml(addon, version), { lineWidth: 0, compat: 'yaml-1.1' })],
    ['values.yaml', valuesYaml(addon)],
    ...(addon.schema === undefined ? [] : [['values.schema.json', schemaJson(addon.schema)] as const]),
  ]);
  for (const [path, content] of files) {
    if (chart.has(path)) notes.push(`${path} is left out: in a chart that is another file`);
    else chart.set(path, content);
  }
  return { files: chart, notes };
}

/** `int` cuts off what is behind the point. */
function aboutIntegers(paths: readonly string[]): string {
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : '';
  const [what, cure] =
    paths.length === 1 ? ['is taken for a whole number', 'it'] : ['are taken for whole numbers', 'one'];
  return `addon.yaml: ${paths.slice(0, MOST_NAMED).join(', ')}${more} ${what} by default: where ${cure} may be 0.5, say type: number in the schema`;
}

function chartYaml(addon: Addon, version: string): JsonObject {
  const namespace = namespaceOf(addon);
  const needs = dependenciesOf(addon);
  const annotations = {
    ...(addon.class === undefined ? {} : { [LABEL.class]: addon.class }),
    ...(namespace === undefined ? {} : { [NAMESPACE]: namespace.name }),
    ...(needs.length === 0 ? {} : { [NEEDS]: needs.join(', ') }),
  };
  return {
    apiVersion: 'v2',
    name: addon.name,
    description: `The add-on ${addon.name}.`,
    type: 'application',
    version,
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
}

/** What it depends on, for people: `network`, `infra/network`, `CustomResourceDefinition x.example.com`. */
export function dependenciesOf({ spec }: Addon): string[] {
  const list = Array.isArray(spec.dependsOn) ? spec.dependsOn.filter(isMap) : [];
  return list.map(({ kind, namespace, name }) => {
    const place = `${namespace === undefined ? '' : `${namespace}/`}${name}`;
    return kind === undefined || kind === 'Plugin' ? place : `${kind} ${place}`;
  });
}

/** The parameters as they stand in addon.yaml, with their comments, and beside them what the schema says of others. */
function valuesYaml(addon: Addon): string {
  const { text } = addon;
  // Of an add-on a null takes away; of a chart's own values it does so at the top only.
  const inner = Object.entries(addon.defaults).map(([name, value]) => [
    name,
    isMap(value) ? withoutNulls(value) : value,
  ]);
  const defaults = Object.fromEntries(inner) as JsonObject;
  if (inner.length === 0) return '{}\n';
  const written = text === undefined ? undefined : asWritten(text, defaults);
  // Where it would not be read as the same (an anchor from elsewhere), comments are the lesser loss.
  return written ?? stringify(defaults, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' });
}

function asWritten(text: string, defaults: JsonObject): string | undefined {
  try {
    const document = parseDocument(text, { compat: 'yaml-1.1' });
    const parameters = document.get('parameters', true);
    if (!isYamlMap(parameters)) return undefined;
    document.contents = parameters as unknown as typeof document.contents;
    document.commentBefore = null;
    for (const { value } of parameters.items) if (isYamlMap(value)) takeNullsOut(value);
    for (const [name, value] of Object.entries(defaults)) if (!document.has(name)) document.set(name, value);
    if (parameters.flow === true) parameters.flow = false;
    const written = document.toString({ lineWidth: 0, flowCollectionPadding: false });
    return canonicalJson(parseValues(written)) === canonicalJson(defaults) ? written : undefined;
  } catch {
    return undefined;
  }
}

function takeNullsOut(map: YAMLMap): void {
  map.items = map.items.filter(({ value }) => !(isScalar(value) && value.value === null));
  for (const { value } of map.items) if (isYamlMap(value)) takeNullsOut(value);
}

/** Keywords beside a `$ref` count since 2019 only, and older Helm knows no more than draft 7. */
function schemaJson(schema: JsonObject): string {
  const draft = JSON.stringify(schema).includes('"$ref"')
    ? 'https://json-schema.org/draft/2020-12/schema'
    : 'http://json-schema.org/draft-07/schema#';
  return `${JSON.stringify({ $schema: draft, type: 'object', ...schema }, null, 2)}\n`;
}

function propertiesOf({ schema }: Addon): JsonObject {
  return schema !== undefined && isMap(schema.properties) ? schema.properties : {};
}
