import {
  type Attempt,
  type InventoryEntry,
  type KubeObject,
  withInventoryEntries,
  withInventoryLines,
} from '../api/index.ts';

/** One intent on record. */
export interface IntentEntry {
  /** `namespace/name`. */
  plugin: string;
  uid: string;
  attempted: Attempt;
  inventory: readonly InventoryEntry[];
}

/** A list in JSON: the API server has nothing to do with its parts, which is what makes it cheap. */
export function writeIntents(entries: readonly IntentEntry[]): { intents: string } {
  return { intents: `[${entries.map(textOf).join(',')}]` };
}

/** An entry stands in many versions of the record, and never changes. */
const TEXTS = new WeakMap<IntentEntry, string>();

function textOf(entry: IntentEntry): string {
  const text = TEXTS.get(entry) ?? JSON.stringify(withInventoryLines(entry));
  TEXTS.set(entry, text);
  return text;
}

/** What does not look like an intent of ours is left out: whoever edited the record by hand has to answer for that. */
export function readIntents(object: KubeObject | undefined): IntentEntry[] {
  const { intents } = (object?.data ?? {}) as Record<string, unknown>;
  if (typeof intents !== 'string') return [];
  let entries: unknown;
  try {
    entries = JSON.parse(intents);
  } catch {
    return [];
  }
  return Array.isArray(entries) ? entries.filter(isWhole).map(withInventoryEntries).filter(isIntent) : [];
}

/** Half an inventory would be worse than none. */
function isWhole(value: unknown): value is object {
  const { inventory } = fieldsOf(value);
  const { inventory: read } = withInventoryEntries(fieldsOf(value));
  return Array.isArray(inventory) && Array.isArray(read) && read.length === inventory.length;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isIntent(value: unknown): value is IntentEntry {
  const { plugin, uid, attempted, inventory } = fieldsOf(value);
  const isNamed = typeof plugin === 'string' && typeof uid === 'string' && typeof fieldsOf(attempted).key === 'string';
  return isNamed && Array.isArray(inventory) && inventory.every(isReference);
}

function isReference(value: unknown): boolean {
  const { apiVersion, kind, name, namespace } = fieldsOf(value);
  return [apiVersion, kind, name, namespace ?? ''].every((text) => typeof text === 'string');
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? (value as Record<string, unknown>) : {};
}
