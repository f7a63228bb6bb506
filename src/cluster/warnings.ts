import type { Headers } from './exchange.ts';

/** The texts of `Warning: 299 - "text"` headers; several may stand in one header. */
export function readWarnings(headers: Headers): string[] {
  const header = headers.warning;
  if (header === undefined) return [];
  const joined = Array.isArray(header) ? header.join(', ') : header;
  return [...joined.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map((match) => (match[1] ?? '').replace(/\\(.)/g, '$1'));
}
