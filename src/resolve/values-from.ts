import type { JsonObject } from '../api/index.ts';
import { nest, type SetOutcome, setValue } from './set-path.ts';
import { mergeValues } from './values.ts';

/** One entry of `valuesFrom`. */
export interface ValuesSource {
  kind: string;
  name: string;
  /** One key of it; without it every key, in name order. */
  key?: string;
  /** A path under which everything of this entry goes. */
  prefix?: string;
  optional?: boolean;
}

const DOCUMENT = /\.(ya?ml|json)$/;

/**
 * The values that one ConfigMap or Secret gives. A key that ends in .yaml, .yml or .json holds a whole document, any
 * other key is itself a `--set` path. `data` is what the object holds, decoded; undefined when the object isn't there.
 * `parseDocument` throws on what it can't read; its message is dropped, because it may quote a secret.
 */
export function valuesOf(
  source: ValuesSource,
  data: Readonly<Record<string, string>> | undefined,
  parseDocument: (text: string) => JsonObject,
): SetOutcome {
  const where = `${source.kind} "${source.name}"`;
  const missing = (what: string): SetOutcome =>
    source.optional === true
      ? { ok: true, values: {} }
      : { ok: false, message: `${what}. Create it, or set optional: true.` };
  if (data === undefined) return missing(`valuesFrom needs the ${where}, which does not exist`);
  if (source.key !== undefined && !Object.hasOwn(data, source.key)) {
    return missing(`valuesFrom needs the key "${source.key}" of the ${where}, which has no such key`);
  }
  const keys = source.key === undefined ? Object.keys(data).sort() : [source.key];
  let values: JsonObject = {};
  for (const key of keys) {
    const text = data[key] ?? '';
    const outcome = DOCUMENT.test(key)
      ? documentAt(source.prefix ?? '', text, parseDocument)
      : setValue({}, joined(source.prefix ?? '', key), text);
    if (!outcome.ok) return { ok: false, message: `The key "${key}" of the ${where}: ${outcome.message}` };
    values = mergeValues(values, outcome.values);
  }
  return { ok: true, values };
}

function documentAt(prefix: string, text: string, parseDocument: (text: string) => JsonObject): SetOutcome {
  let document: JsonObject;
  try {
    document = parseDocument(text);
  } catch {
    return { ok: false, message: 'its text is not a YAML map that can be used as values.' };
  }
  return nest(prefix.replace(/\.$/, ''), document);
}

/** `auth` and `auth.` mean the same; `auth-` and `auth_` are the beginning of a name. */
function joined(prefix: string, key: string): string {
  return prefix === '' || /[._-]$/.test(prefix) ? `${prefix}${key}` : `${prefix}.${key}`;
}
