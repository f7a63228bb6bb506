import type { Json, JsonObject } from '../../api/index.ts';

/** Readers for objects of others: whatever stands there, the answer is of the type that was asked for, or undefined. */

export function isMap(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function at(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) found = isMap(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return found;
}

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

export function mapAt(value: unknown, ...path: readonly string[]): JsonObject | undefined {
  const found = at(value, ...path);
  return isMap(found) && Object.keys(found).length > 0 ? found : undefined;
}

export function listAt(value: unknown, ...path: readonly string[]): Json[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function textsAt(value: unknown, ...path: readonly string[]): string[] {
  return listAt(value, ...path).filter((one) => typeof one === 'string');
}

export function isOn(value: unknown, ...path: readonly string[]): boolean {
  return at(value, ...path) === true;
}

/** Only the fields that are there. */
export function present(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

/** Names every field that is not in the table, and every one that the table has a reason for. */
export function leaveFields(
  spec: unknown,
  table: Readonly<Record<string, string | true>>,
  at: string,
  leave: (field: string, why: string) => void,
): void {
  if (!isMap(spec)) return;
  for (const [name, value] of Object.entries(spec)) {
    const known = Object.hasOwn(table, name) ? table[name] : undefined;
    if (known === true || value === null || value === false || value === '') continue;
    leave(`${at}.${name}`, known ?? 'Espalier has nothing like it');
  }
}
