import {
  CORE_SCHEMA,
  DUMP_SCHEMA,
  defineMappingTag,
  defineScalarTag,
  floatCoreTag,
  floatYaml11Tag,
  mergeTag,
  NOT_RESOLVED,
} from 'js-yaml';

/**
 * Plain scalars as `kubectl`, Helm and the API server read them: YAML 1.1 as Go has it. `on` and `yes` are true, `0777`
 * is 511, `1_000` is 1000, and dates and `1:30` are text. Another reading would apply something else than `kubectl`.
 */
const TRUE = new Set(['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON']);
const FALSE = new Set(['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF']);
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const RADIX: Readonly<Record<string, number>> = { x: 16, o: 8, b: 2 };

const boolTag = defineScalarTag('tag:yaml.org,2002:bool', {
  implicit: true,
  implicitFirstChars: [...'yYnNtTfFoO'],
  identify: (data) => typeof data === 'boolean',
  resolve: (source) => (TRUE.has(source) ? true : FALSE.has(source) ? false : NOT_RESOLVED),
});

const intTag = defineScalarTag('tag:yaml.org,2002:int', {
  implicit: true,
  implicitFirstChars: [...'+-.0123456789'],
  identify: () => false,
  resolve: (source) => goNumber(source) ?? NOT_RESOLVED,
});

const floatTag = defineScalarTag('tag:yaml.org,2002:float', {
  implicit: true,
  implicitFirstChars: [...'+-.0123456789'],
  identify: () => false,
  resolve: (source) => goNumber(source) ?? NOT_RESOLVED,
});

/** The number that Go's YAML sees in a plain scalar, or undefined when it sees text. */
export function goNumber(source: string): number | undefined {
  const digits = source.replaceAll('_', '');
  const based = /^([-+]?)0([xXoObB]?)([0-9a-fA-F]+)$/.exec(digits);
  if (based !== null && /^[-+.0-9]/.test(source)) {
    const [, sign, base = '', rest = ''] = based;
    const radix = RADIX[base.toLowerCase()] ?? 8;
    const digit = radix === 16 ? /^[0-9a-fA-F]+$/ : radix === 8 ? /^[0-7]+$/ : /^[01]+$/;
    // What is no octal number after all (`09`) is tried as a decimal one.
    if (digit.test(rest)) return Number.parseInt(rest, radix) * (sign === '-' ? -1 : 1) + 0;
    if (base !== '') return undefined;
  }
  if (!/^[-+.0-9]/.test(source) || !FLOAT.test(digits)) return undefined;
  const value = Number(digits);
  return Number.isFinite(value) ? value + 0 : undefined;
}

/** Maps as plain objects whose keys are text; whatever else could be a key is refused, and so is what poisons prototypes. */
const mapTag = defineMappingTag<Record<string, unknown>>('tag:yaml.org,2002:map', {
  create: () => ({}),
  addPair: (map, key, value) => {
    if (typeof key === 'object') return 'keys must be text, not null, lists or maps';
    const name = String(key);
    if (name === '__proto__') return 'the key "__proto__" is refused';
    map[name] = value;
    return '';
  },
  has: (map, key) => Object.hasOwn(map, String(key)),
  keys: (map) => Object.keys(map),
  get: (map, key) => (Object.hasOwn(map, String(key)) ? map[String(key)] : undefined),
  identify: (data) => typeof data === 'object',
});

export const GO_SCHEMA = CORE_SCHEMA.withTags(boolTag, intTag, floatTag, mapTag, mergeTag);

/** For writing: text in which Go alone sees a number (`-_0`, `1e3_0`) is quoted as well. */
export const QUOTING_SCHEMA = DUMP_SCHEMA.withTags({
  ...floatYaml11Tag,
  implicitFirstChars: floatTag.implicitFirstChars,
  resolve(source, ...rest) {
    const value = goNumber(source) ?? floatYaml11Tag.resolve(source, ...rest);
    return value === NOT_RESOLVED ? floatCoreTag.resolve(source, ...rest) : value;
  },
});
