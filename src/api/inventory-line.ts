/** One object on record in a status. */
export interface InventoryEntry {
  apiVersion: string;
  kind: string;
  /** Absent for cluster-wide kinds. */
  namespace?: string;
  name: string;
  /** UID that the object had when it was applied. Only an object with this UID is ever deleted. */
  uid?: string;
  /** Hash of the declared object as it was last applied. */
  applied?: string;
  /** Hash of the fields that Espalier manages in the object, as of the last apply. */
  fields?: string;
  /** For an object that runs once (annotation espalier.dev/once): for which value of it, and when it had run. */
  once?: { key: string; at?: string };
}

/** What `kubectl explain` and the reference say of it. */
export const INVENTORY_LINE =
  'One object a line, such as `apps/v1 Deployment web/frontend uid=… applied=… fields=…`: its API version, its kind, its namespace (unless the kind is cluster-wide) and name. uid: its UID when it was applied; only an object with this UID is ever deleted. applied: hash of what was declared. fields: hash of the fields that Espalier manages in it. once, ran: for an object that runs once, for which value of the annotation espalier.dev/once, and when it had run.';

/**
 * A status with its inventory as lines, as the cluster holds it: a list of objects costs the API server five times as
 * much at each write, and people many times the lines to read (docs/decisions/0022).
 */
export function withInventoryLines<S extends object>(status: S): S {
  return { ...status, ...mappedInventory(status, (entry) => (typeof entry === 'string' ? entry : formatEntry(entry))) };
}

/**
 * A status from the cluster with its inventory as entries, which is also how earlier versions stored it. What nobody of
 * ours wrote is left out.
 */
export function withInventoryEntries<S extends object>(status: S): S {
  return { ...status, ...mappedInventory(status, (entry) => (typeof entry === 'string' ? parseEntry(entry) : entry)) };
}

function mappedInventory<T>(status: object, change: (entry: InventoryEntry | string) => T | undefined) {
  const { inventory } = status as { inventory?: unknown };
  if (!Array.isArray(inventory)) return {};
  return {
    inventory: inventory
      .filter(isEntryOrLine)
      .map(change)
      .filter((entry) => entry !== undefined),
  };
}

function isEntryOrLine(entry: unknown): entry is InventoryEntry | string {
  if (typeof entry !== 'object' || entry === null) return typeof entry === 'string';
  const { apiVersion, kind, name } = entry as Partial<InventoryEntry>;
  return [apiVersion, kind, name].every((word) => typeof word === 'string' && word !== '');
}

export function formatEntry({ apiVersion, kind, namespace, name, uid, applied, fields, once }: InventoryEntry): string {
  const words = [apiVersion, kind, namespace === undefined ? escaped(name) : `${namespace}/${escaped(name)}`];
  const more = { uid, applied, fields, once: once?.key, ran: once?.at };
  for (const [label, value] of Object.entries(more)) if (value !== undefined) words.push(`${label}=${escaped(value)}`);
  return words.join(' ');
}

/** Undefined for what is no such line. */
export function parseEntry(line: string): InventoryEntry | undefined {
  const [apiVersion, kind, place, ...more] = line.split(' ');
  if (!apiVersion || !kind || !place) return undefined;
  const slash = place.indexOf('/');
  const entry: InventoryEntry = { apiVersion, kind, name: meant(place.slice(slash + 1)) };
  if (slash >= 0) entry.namespace = place.slice(0, slash);
  let ran: string | undefined;
  for (const word of more) {
    const at = word.indexOf('=');
    const label = word.slice(0, at);
    const value = meant(word.slice(at + 1));
    if (label === 'uid' || label === 'applied' || label === 'fields') entry[label] = value;
    else if (label === 'once') entry.once = { key: value };
    else if (label === 'ran') ran = value;
    else return undefined;
  }
  if (ran !== undefined && entry.once !== undefined) entry.once.at = ran;
  return entry.name === '' ? undefined : entry;
}

/** Names of some kinds, and what annotations say, may hold spaces. */
function escaped(text: string): string {
  return /[\s%]/.test(text) ? text.replace(/[\s%]/g, (character) => encodeURIComponent(character)) : text;
}

function meant(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
