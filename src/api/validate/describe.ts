import type { Schema } from '../schema.ts';

/** A found value for people: its type, and what it is when that is short. Credentials in URLs are left out. */
export function describeFound(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string') return quote(value);
  return `the ${typeof value === 'number' ? 'number' : 'value'} ${String(value)}`;
}

/** So much of a text a message quotes. Whoever hides secrets in messages looks for their beginnings too. */
export const LONGEST_QUOTE = 60;

export function quote(text: string): string {
  const safe = text.replace(/\/\/[^/]*@/g, '//***@');
  return JSON.stringify(safe.length > LONGEST_QUOTE ? `${safe.slice(0, LONGEST_QUOTE)}…` : safe);
}

/** What a field takes, as the end of "expected …". */
export function describeExpected(schema: Schema): string {
  if (schema.enum !== undefined) return oneOf(schema.enum);
  const rule = schema['x-kubernetes-validations']?.[0];
  if (schema.type === 'string' && rule?.message.startsWith('must be ')) return rule.message.slice('must be '.length);
  switch (schema.type) {
    case 'object':
      return 'a mapping';
    case 'array':
      return 'a list';
    case 'boolean':
      return 'true or false';
    case 'integer':
      return `a whole number${bounds(schema)}`;
    case 'string':
      return 'text';
  }
}

export function oneOf(values: readonly string[]): string {
  return values.length === 1 ? `${values[0]}` : `one of ${values.join(', ')}`;
}

function bounds({ minimum, maximum }: Schema): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  return maximum === undefined ? '' : ` of at most ${maximum}`;
}

/** `/spec/dependsOn/0/name` → `spec.dependsOn[0].name`. */
export function dotted(path: string): string {
  let text = '';
  for (const step of steps(path)) {
    if (/^[0-9]+$/.test(step)) text += `[${step}]`;
    else if (/^[A-Za-z_][A-Za-z0-9_-]*$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${quote(step)}]`;
  }
  return text;
}

/** The steps of a JSON pointer, unescaped. */
export function steps(path: string): string[] {
  if (path === '') return [];
  const escaped = path.slice(1).split('/');
  return escaped.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export function child(path: string, step: string | number): string {
  return `${path}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
