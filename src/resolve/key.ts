import { hash } from 'node:crypto';
import { canonicalJson } from '../api/index.ts';

/**
 * The identity of everything that a result is made of. Same key, same result: nothing to render, nothing to send.
 * Name each part, so that two parts can never stand in for each other.
 */
export function contentKey(parts: Readonly<Record<string, unknown>>): string {
  return hash('sha256', canonicalJson(parts), 'hex');
}
