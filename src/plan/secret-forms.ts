import { groupOf, type Json, type JsonObject, type KubeObject } from '../api/index.ts';
import { asJson, fieldOf, isObject, setField } from './json.ts';

/** Every form in which a secret value may turn up in somebody's text, longest first. */
export function secretForms(values: readonly string[], shortest: number): string[] {
  const forms = new Set<string>();
  for (const value of values) {
    const decoded = decode(value);
    for (const text of decoded === undefined ? [value] : [value, decoded]) {
      forms.add(text);
      forms.add(Buffer.from(text).toString('base64'));
      forms.add(Buffer.from(text).toString('base64url'));
      forms.add(JSON.stringify(text).slice(1, -1));
      forms.add(encodeURIComponent(text.toWellFormed()));
      // A key or certificate may be quoted line by line.
      for (const line of text.split('\n')) if (line.length >= 16) forms.add(line);
    }
  }
  return [...forms].filter((form) => form.length >= shortest).sort((a, b) => b.length - a.length);
}

/** What stands behind base64, when it is that and text. */
function decode(value: string): string | undefined {
  const bytes = Buffer.from(value, 'base64');
  if (bytes.length === 0 || bytes.toString('base64').replace(/=+$/, '') !== value.replace(/=+$/, '')) return undefined;
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : undefined;
}

/** A Secret as the API server stores it: `stringData` folded into `data`, so that equal values are equal text. */
export function withFoldedData(object: KubeObject): KubeObject {
  const stringData = fieldOf(asJson(object), 'stringData');
  if (object.kind !== 'Secret' || groupOf(object.apiVersion) !== '' || !isObject(stringData)) return object;
  const data: JsonObject = {};
  const declared = fieldOf(asJson(object), 'data');
  const encoded = Object.entries(stringData).map(([name, value]): [string, Json] => [
    name,
    typeof value === 'string' ? Buffer.from(value).toString('base64') : value,
  ]);
  for (const [name, value] of [...Object.entries(isObject(declared) ? declared : {}), ...encoded]) {
    setField(data, name, value);
  }
  const { stringData: _, ...rest } = object;
  return { ...rest, data };
}
