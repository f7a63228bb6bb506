import { canonicalJson, groupOf, type Json, type JsonObject, type KubeObject, refKey, refOf } from '../api/index.ts';
import { asJson, fieldOf, isObject, setField } from './json.ts';
import { parsePointer, resolvePointer } from './pointer.ts';
import { secretForms, withFoldedData } from './secret-forms.ts';

/** Parts of objects of a kind that count as secret, as JSON pointers in which `*` stands for any one step. */
export interface MaskRule {
  readonly group: string;
  readonly kind: string;
  readonly paths: readonly string[];
}

export interface MaskOptions {
  /** Kinds beside Secret. */
  readonly kinds?: readonly MaskRule[];
  /** Values known to be secret, such as those read from Secrets for a chart: masked wherever they turn up. */
  readonly values?: readonly string[];
}

export interface Masker {
  /** A copy that may be shown. Text that stood for two different values at one place still differs. */
  mask(object: KubeObject): KubeObject;
  /** Somebody else's message about the object, such as the API server's, without what `mask` would hide in it. */
  scrub(message: string, object: KubeObject): string;
}

type Place = readonly (string | number)[];

const SECRET: MaskRule = { group: '', kind: 'Secret', paths: ['/data/*', '/stringData/*'] };
const LAST_APPLIED = '/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration';
const HIDDEN = '•••';
/** Shorter texts turn up by chance everywhere; a known value that short is masked only where it is the whole text. */
const SHORTEST_PART = 6;
const SHORTEST_IN_MESSAGE = 4;

/**
 * Use one masker for one plan. A masked value becomes `••• (1)`, the next different one at the same place `••• (2)`:
 * a change shows as a change and nothing else shows, not even a length. Numbers count by place, not by plan, so that
 * a pull request can't find a live password by declaring guesses beside it and looking which gets the same number.
 */
export function createMasker(options: MaskOptions = {}): Masker {
  const rules = [SECRET, ...(options.kinds ?? [])];
  const known = new Set(options.values ?? []);
  const parts = secretForms(options.values ?? [], SHORTEST_PART);
  const seen = new Map<string, string[]>();

  function token(place: string, value: Json): string {
    const values = seen.get(place) ?? [];
    seen.set(place, values);
    const text = canonicalJson(value);
    const index = values.indexOf(text);
    return `${HIDDEN} (${index < 0 ? values.push(text) : index + 1})`;
  }

  function hiddenPlaces(object: KubeObject): Place[] {
    return [LAST_APPLIED, ...rulesFor(object, rules).flatMap((rule) => rule.paths)]
      .map(parsePointer)
      .flatMap((pointer) => resolvePointer(asJson(object), pointer));
  }

  function isKnownSecret(value: Json): boolean {
    return typeof value === 'string' && (known.has(value) || parts.some((part) => value.includes(part)));
  }

  function maskValue(value: Json, key: string, place: Place, hidden: ReadonlySet<string>): Json {
    const at = JSON.stringify(place);
    if (hidden.has(at) || isKnownSecret(value)) return token(`${key} ${at}`, value);
    if (Array.isArray(value)) return value.map((item, index) => maskValue(item, key, [...place, index], hidden));
    if (!isObject(value)) return value;
    const copy: JsonObject = {};
    for (const [name, field] of Object.entries(value)) {
      setField(copy, name, maskValue(field, key, [...place, name], hidden));
    }
    return copy;
  }

  return {
    mask(object) {
      const stored = withFoldedData(object);
      const places = hiddenPlaces(stored);
      if (places.length === 0 && known.size === 0) return stored;
      const hidden = new Set(places.map((place) => JSON.stringify(place)));
      return maskValue(asJson(stored), refKey(refOf(stored)), [], hidden) as KubeObject;
    },
    scrub(message, object) {
      const own = hiddenPlaces(object).map((place) => place.reduce<Json | undefined>(stepInto, asJson(object)));
      const texts = own.map((value) => (typeof value === 'string' ? value : canonicalJson(value)));
      const secrets = [...secretForms(texts, SHORTEST_IN_MESSAGE), ...parts];
      const scrubbed = secrets.reduce((text, secret) => text.replaceAll(secret, HIDDEN), message);
      if (rulesFor(object, rules).length === 0) return scrubbed;
      return scrubbed.replace(/(Invalid|Unsupported) value: ("(?:[^"\\]|\\.)*"|[^\s:]+)/g, `$1 value: ${HIDDEN}`);
    },
  };
}

function rulesFor(object: KubeObject, rules: readonly MaskRule[]): MaskRule[] {
  return rules.filter((rule) => rule.kind === object.kind && rule.group === groupOf(object.apiVersion));
}

function stepInto(value: Json | undefined, name: string | number): Json | undefined {
  return Array.isArray(value) ? value[Number(name)] : fieldOf(value, String(name));
}
