import { FAILSAFE_SCHEMA, load } from 'js-yaml';

/** Every scalar as the text that stands there: a version such as 1.10 stays what it is. */
export function loadText(text: string): unknown {
  return load(text, { schema: FAILSAFE_SCHEMA, maxAliases: 100, maxDepth: 64 });
}

export function mapIn(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function listIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Undefined for what is empty, `~` or `null`, as for what is no text. */
export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value !== '~' && value !== 'null' ? value : undefined;
}
