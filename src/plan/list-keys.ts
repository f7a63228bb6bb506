import type { Json, JsonObject } from '../api/index.ts';
import { canonicalJson } from '../api/index.ts';
import { fieldOf, isObject } from './json.ts';

/** What tells the items of a list apart, by the name of the list: as the API server's schemas say. */
const KEYS_OF_LIST: Readonly<Record<string, readonly (readonly string[])[]>> = {
  ports: [['containerPort', 'protocol'], ['port', 'protocol'], ['name']],
  volumeMounts: [['mountPath']],
  volumeDevices: [['devicePath']],
  hostAliases: [['ip']],
  topologySpreadConstraints: [['topologyKey', 'whenUnsatisfiable']],
  ownerReferences: [['uid']],
  conditions: [['type']],
  rules: [['host']],
};
const USUAL_KEYS: readonly (readonly string[])[] = [['name'], ['key'], ['id'], ['type'], ['path'], ['ip']];
const DEFAULTS: Readonly<Record<string, string>> = { protocol: 'TCP' };

/**
 * Field names that tell the items of both lists apart, or undefined when nothing does. A diff by keys says
 * `containers[name=app].image` changed, where a diff by place would say that everything after an insertion did.
 */
export function keysOf(listName: string, ...lists: readonly (readonly Json[])[]): readonly string[] | undefined {
  const candidates = Object.hasOwn(KEYS_OF_LIST, listName) ? KEYS_OF_LIST[listName] : USUAL_KEYS;
  return candidates?.find((names) => lists.every((items) => tellsApart(items, names)));
}

function tellsApart(items: readonly Json[], names: readonly string[]): boolean {
  const keys = items.map((item) => keyOfItem(item, names));
  return keys.every((key) => key !== undefined) && new Set(keys.map((key) => canonicalJson(key))).size === items.length;
}

/** The item's values of these fields; undefined when it has none of them or they are no plain values. */
export function keyOfItem(item: Json, names: readonly string[]): JsonObject | undefined {
  if (!isObject(item)) return undefined;
  const key: JsonObject = {};
  for (const name of names) {
    const value = fieldOf(item, name) ?? DEFAULTS[name];
    if (typeof value !== 'string' && typeof value !== 'number') return undefined;
    key[name] = value;
  }
  return key;
}
