import { describeRef } from '../api/index.ts';
import type { Inventory } from '../converge/inventory.ts';
import type { ObjectPlan, PluginPlan } from '../plan/object-plan.ts';
import type { Touch } from '../report/outline.ts';

const HASH_LENGTH = 16;

/** What a plan does, object by object, so that what was shown can be compared with what was done. */
export function touchesOf(
  plugin: string,
  { objects }: Pick<PluginPlan, 'objects'>,
  hashes: ReadonlyMap<string, string>,
  record: Inventory,
): Touch[] {
  return objects.flatMap((object): Touch[] => {
    const hash = hashes.get(object.key)?.slice(0, HASH_LENGTH);
    const action = actionOf(object, hash !== undefined && !(record.get(object.key)?.applied ?? '').startsWith(hash));
    if (action === undefined) return [];
    return [{ plugin, object: describeRef(object.ref), action, ...(hash === undefined ? {} : { hash }) }];
  });
}

function actionOf(object: ObjectPlan, isOther: boolean): string | undefined {
  if (object.action === 'unchanged') return object.isOurs && object.once === undefined && isOther ? 'same' : undefined;
  // It goes as soon as the rest of the revision is known.
  if (object.action === 'keep' && object.reason === 'incomplete') return 'delete';
  return object.action;
}

/** What each Plugin last did for new inputs, since this process leads. */
export class CarriedOut {
  readonly #plugins = new Map<string, { inputs: string; head: string; touches: readonly Touch[] }>();

  /** The first try at new inputs is what was planned; a later one finds part of it done. */
  note(plugin: string, inputs: string, head: string, touches: readonly Touch[]): void {
    if (this.#plugins.get(plugin)?.inputs !== inputs) this.#plugins.set(plugin, { inputs, head, touches });
  }

  /** Undefined when the Plugin did nothing for that head. */
  at(plugin: string, head: string): readonly Touch[] | undefined {
    const known = this.#plugins.get(plugin);
    return known?.head === head ? known.touches : undefined;
  }

  forget(plugin: string): void {
    this.#plugins.delete(plugin);
  }
}
