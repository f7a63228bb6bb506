import type { Rule, Schema } from './schema.ts';

/** A schema as a CustomResourceDefinition holds it. */
export type ServedSchema = Omit<
  Schema,
  'type' | 'properties' | 'items' | 'additionalProperties' | 'x-kubernetes-validations'
> & {
  readonly type?: Schema['type'];
  readonly properties?: { readonly [name: string]: ServedSchema };
  readonly items?: ServedSchema;
  readonly additionalProperties?: ServedSchema;
  readonly 'x-kubernetes-validations'?: readonly (Rule | MergedRule)[];
};

interface MergedRule {
  readonly rule: string;
  /** CEL that says what is wrong. */
  readonly messageExpression: string;
  /** Said where that fails. */
  readonly message: string;
}

/**
 * The same verdicts on what people write, for less: whatever a schema knows, the API server goes through at each write of an
 * object, the agent's own ones of its status above all (docs/decisions/0022). So rules of one value become one, defaults
 * are left to whoever reads (`readAs`), and what the agent alone writes is stored as it is. `shown`: paths of fields whose
 * defaults people see in the columns of `kubectl get`.
 */
export function served(schema: Schema, shown: readonly string[] = []): ServedSchema {
  const { properties, ...rest } = checked(schema, '', shown);
  if (properties === undefined) return rest;
  const { status, ...others } = properties;
  return { ...rest, properties: status === undefined ? others : { ...others, status: recorded(status) } };
}

function checked(schema: Schema, path: string, shown: readonly string[]): ServedSchema {
  const {
    properties,
    items,
    additionalProperties,
    default: value,
    'x-kubernetes-validations': rules,
    ...rest
  } = schema;
  const field = (inner: Schema, name: string): ServedSchema => checked(inner, `${path}.${name}`, shown);
  return {
    ...rest,
    ...(value !== undefined && shown.includes(path) ? { default: value } : {}),
    ...(properties === undefined ? {} : { properties: mapped(properties, field) }),
    ...(items === undefined ? {} : { items: field(items, '[]') }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: field(additionalProperties, '{}') }),
    ...(rules === undefined ? {} : { 'x-kubernetes-validations': merged(rules, schema.required ?? []) }),
  };
}

/** What the agent alone writes is told, and not checked: the lists of a status, or all of it where it is one piece. */
function recorded(status: ServedSchema): ServedSchema {
  const { properties = {}, description = '' } = status;
  if (status['x-kubernetes-map-type'] !== 'atomic') return { ...status, properties: mapped(properties, withOpenList) };
  const lines = Object.entries(properties).map(([name, field]) => `- ${name}: ${told(field)}`);
  const shape = { type: 'object', ...UNCHECKED, 'x-kubernetes-map-type': 'atomic' } as const;
  return { ...shape, description: [description, ...lines].join('\n') };
}

/** Of any type: what an older agent wrote in another form would be emptied otherwise, before anybody could read it. */
const UNCHECKED = { 'x-kubernetes-preserve-unknown-fields': true } as const satisfies ServedSchema;

function withOpenList(schema: ServedSchema): ServedSchema {
  if (schema['x-kubernetes-list-type'] === 'atomic') return { ...schema, description: told(schema), items: UNCHECKED };
  return schema.properties === undefined ? schema : { ...schema, properties: mapped(schema.properties, withOpenList) };
}

/** What a field is for, with the names of what is in it. */
function told({ description = '', properties, items }: ServedSchema): string {
  const names = Object.keys(items?.properties ?? properties ?? {});
  if (names.length === 0) return description;
  return `${description} ${items === undefined ? 'Fields' : 'Each has'}: ${names.join(', ')}.`.trim();
}

function mapped<A, B>(
  fields: { readonly [name: string]: A },
  change: (field: A, name: string) => B,
): { [name: string]: B } {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, change(field, name)]));
}

const FIELD = /\bself\.([A-Za-z]+)/g;

/**
 * All rules of a value as one. Each `self.x` makes the API server list all fields that an x could be among, so a field that
 * is always there and that several rules read is read once. Of several that are broken it tells the last.
 */
function merged(rules: readonly Rule[], required: readonly string[]): readonly (Rule | MergedRule)[] {
  const [first, ...others] = rules;
  if (first === undefined || others.length === 0) return rules;
  const reads = rules.flatMap(({ rule }) => [...rule.matchAll(FIELD)].map(([, field = '']) => field));
  const shared = required.filter((field) => reads.indexOf(field) !== reads.lastIndexOf(field));
  const over = (rule: string): string =>
    rule.replaceAll(FIELD, (read, field) => (shared.includes(field) ? field : read));
  const all = rules.map(({ rule }) => `(${over(rule)})`).join(' && ');
  const messageExpression = others.reduce(
    (rest, { rule, message }) => `!(${rule}) ? ${quoted(message)} : ${rest}`,
    quoted(first.message),
  );
  return [
    {
      rule: shared.reduceRight((rest, field) => `[self.${field}].all(${field}, ${rest})`, all),
      messageExpression,
      message: rules.map((rule) => rule.message).join('; '),
    },
  ];
}

/** As a text in CEL. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
