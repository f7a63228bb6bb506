import { ANNOTATION, type KubeObject, refKey, refOf } from '../api/index.ts';
import type { LookInput } from './look.ts';
import type { Parts } from './parts.ts';

/** Objects that were taken to be absent and turned out to exist, by Plugin: they are read before the next try. */
export class TakenNames {
  readonly #taken = new Map<string, Set<string>>();

  add(plugin: string, key: string): void {
    const keys = this.#taken.get(plugin);
    if (keys === undefined) this.#taken.set(plugin, new Set([key]));
    else keys.add(key);
  }

  has(plugin: string, key: string): boolean {
    return this.#taken.get(plugin)?.has(key) ?? false;
  }

  forget(plugin: string): void {
    this.#taken.delete(plugin);
  }
}

/**
 * What need not be read before it is written: nothing speaks for its existence, neither the record nor a watch nor an
 * earlier try. It is sent so that the API server refuses it where it exists after all: see `ApplyTask.onlyNew`.
 */
export function isPresumedAbsent(
  parts: Pick<Parts, 'owned' | 'taken'>,
  { key, plugin, record, rendered }: Pick<LookInput, 'key' | 'plugin' | 'record' | 'rendered'>,
  object: KubeObject,
): boolean {
  const at = refKey(refOf(object));
  const mayExist =
    plugin.spec.apply.adopt ||
    object.metadata.annotations?.[ANNOTATION.adopt] === 'true' ||
    rendered.ensure.has(at) ||
    record.get(at)?.uid !== undefined ||
    parts.owned.get(at) !== undefined;
  return !mayExist && !parts.taken.has(key, at);
}
