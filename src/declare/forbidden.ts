/**
 * Keys that careless code takes for parts of JavaScript's own objects. No declaration and no chart needs them, and the
 * merge-patch library stops half-way when it meets one, so they are refused before anything reads them.
 */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype', 'hasOwnProperty']);

/** Whether a value holds a forbidden key at any depth. */
export function holdsForbiddenKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, item]) => FORBIDDEN_KEYS.has(key) || holdsForbiddenKey(item));
}
