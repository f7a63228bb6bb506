import type { Json, JsonObject } from '../api/index.ts';

/**
 * A folder of Go templates with bare parameters, as a chart that Helm's engine renders. Each file is passed on as it
 * is, as a named template (Helm prints nothing for names that begin with `_`), and a small runner beside it executes
 * that with the parameters as its data. So `.` and `$` are the parameters, `define` works, and the lines in messages
 * are the file's own: a wrapper around the text would give none of these.
 */
export interface AddonChart {
  files: Map<string, Uint8Array | string>;
  /** What Helm calls a file in its messages, to what it is called in the repository. */
  names: Map<string, string>;
  warnings: string[];
}

export const CHART = 'addon';
export const TEMPLATES = 'templates/';
/** Names to which Helm gives a meaning of its own: a schema could refer to any file or URL, an archive is a chart. */
const MEANT_FOR_HELM =
  /^(charts|crds|templates)\/|^(values\.schema\.json|Chart\.lock|requirements\.lock|\.helmignore)$/i;
/** Beside the parameters, unless one of them has the name. */
export const BUILT_IN: readonly string[] = ['Files', 'Values', 'Release', 'Capabilities', 'Chart', 'Template'];

export interface AddonFile {
  /** From the folder of the add-on. */
  name: string;
  path: string;
  content: Uint8Array;
}

export function isTemplate(name: string): boolean {
  return /\.ya?ml$/i.test(name);
}

/** Where a file of an add-on is in a chart; undefined where Helm would take it for something else than it is. */
export function placeInChart(name: string): { path: string; runs: boolean } | undefined {
  const [folder, base] = [name.slice(0, name.lastIndexOf('/') + 1), name.slice(name.lastIndexOf('/') + 1)];
  if (isTemplate(name) && !base.startsWith('_')) return { path: `${TEMPLATES}${name}`, runs: true };
  if (isTemplate(name) || name.endsWith('.tpl'))
    return { path: `${TEMPLATES}${folder}${base.startsWith('_') ? base : `_${base}`}`, runs: false };
  return MEANT_FOR_HELM.test(name) ? undefined : { path: name, runs: false };
}

export function addonChart(files: readonly AddonFile[], values: JsonObject): AddonChart {
  const chart: AddonChart = { files: new Map(), names: new Map(), warnings: [] };
  chart.files.set('Chart.yaml', `apiVersion: v2\nname: ${CHART}\nversion: 0.0.0\n`);
  const builtIn = BUILT_IN.filter((name) => !Object.hasOwn(values, name)).map((name) => `"${name}" .${name}`);
  // A copy for each file: templates can change what they are given.
  const data = `(merge (deepCopy ${parameters(values, '.Values')}) (dict ${builtIn.join(' ')}))`;
  for (const { name, path, content } of files) {
    const place = placeInChart(name);
    if (place === undefined) {
      chart.warnings.push(`${path} can't be read by .Files.Get: the name means something to Helm`);
    } else if (place.runs) {
      const at = place.path.lastIndexOf('/') + 1;
      const body = `${place.path.slice(0, at)}_body.${place.path.slice(at)}`;
      chart.files.set(body, content);
      chart.files.set(place.path, `{{ template ${goText(`${CHART}/${body}`)} ${data} }}\n`);
      for (const file of [body, place.path]) chart.names.set(`${CHART}/${file}`, path);
    } else {
      chart.files.set(place.path, content);
      if (place.path.startsWith(TEMPLATES)) chart.names.set(`${CHART}/${place.path}`, path);
    }
  }
  return chart;
}

/**
 * The values as an expression. Helm reads every number as a float: `gt .replicas 1` would fail and 12345678 be printed
 * as 1.2345678e+07. Integers are made integers again; nothing but names is written out, as values may be secret.
 */
export function parameters(value: Json, reference: string): string {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? `(int ${reference})` : reference;
  if (!hasInteger(value)) return reference;
  if (Array.isArray(value)) {
    return `(list ${value.map((item, index) => parameters(item, `(index ${reference} ${index})`)).join(' ')})`;
  }
  const fields = Object.entries(value as JsonObject).map(
    ([name, field]) => `${goText(name)} ${parameters(field, `(index ${reference} ${goText(name)})`)}`,
  );
  return `(dict ${fields.join(' ')})`;
}

function hasInteger(value: Json): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInteger);
}

/** JSON's way to write text is Go's as well; template actions may not hold a line break, and JSON writes none. */
function goText(text: string): string {
  return JSON.stringify(text.toWellFormed());
}

/** Helm's message with the names that the user knows. */
export function withRealNames(message: string, names: ReadonlyMap<string, string>): string {
  // A name may begin another.
  const longestFirst = [...names].sort(([a], [b]) => b.length - a.length);
  return longestFirst.reduce((text, [name, real]) => text.replaceAll(name, () => real), message);
}
