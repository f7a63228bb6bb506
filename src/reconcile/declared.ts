import { type Plugin, refKey } from '../api/index.ts';
import { syncKeyOf } from './facts.ts';
import { isDeclared } from './records.ts';
import { keyOf } from './store.ts';

export type Answer = 'yes' | 'no' | 'unknown';

export interface DeclaredOptions {
  plugin(key: string): Plugin | undefined;
  plugins(): Iterable<Plugin>;
  /** False once the Sync object is gone: then its Plugins stand for themselves. */
  syncExists(sync: string): boolean;
  /** False when a Plugin is disabled, or not for this cluster: it declares nothing then. */
  isWanted(plugin: Plugin): boolean;
  /** The content key of a Plugin as it is now; undefined while an input is not known. */
  currentKey(plugin: Plugin): string | undefined;
}

/**
 * What every Plugin declares *at this moment*, so that nothing is deleted that another one has just taken over
 * (law 4), and nothing at all before a revision is rendered whole (law 2). "Don't know yet" is an answer of its own.
 */
export class Declared {
  readonly #options: DeclaredOptions;
  /** What a Plugin rendered to, with the key it was rendered for. */
  readonly #rendered = new Map<string, { key: string; objects: ReadonlySet<string> }>();
  /** The Plugins that the last compiled revision of a Sync declares; absent until one was compiled since the start. */
  readonly #revisions = new Map<string, ReadonlySet<string>>();
  /** Revisions with a fault somewhere: what that would declare is not known. */
  readonly #faulty = new Set<string>();
  readonly #writing = new Set<string>();
  readonly #heads = new Map<string, string>();

  constructor(options: DeclaredOptions) {
    this.#options = options;
  }

  /** Returns true when this was news. */
  setRendered(plugin: string, key: string, objects: Iterable<string>): boolean {
    const known = this.#rendered.get(plugin);
    const next = new Set(objects);
    const isKnown =
      known?.key === key && known.objects.size === next.size && [...next].every((one) => known.objects.has(one));
    if (!isKnown) this.#rendered.set(plugin, { key, objects: next });
    return !isKnown;
  }

  forget(plugin: string): void {
    this.#rendered.delete(plugin);
  }

  /** The commit that the Plugins of a Sync are taken from. Their Sync's status says so only later. */
  headOf(sync: string): string | undefined {
    return this.#heads.get(sync);
  }

  setHead(sync: string, commit: string): void {
    this.#heads.set(sync, commit);
  }

  /** From here until `setRevision` the Plugins of the Sync are being rewritten: what they declare is not known. */
  beginRevision(sync: string): void {
    this.#writing.add(sync);
  }

  setRevision(sync: string, plugins: Iterable<string>, isWhole: boolean): void {
    if (isWhole) this.#faulty.delete(sync);
    else this.#faulty.add(sync);
    this.#revisions.set(sync, new Set(plugins));
    this.#writing.delete(sync);
  }

  forgetSync(sync: string): void {
    this.#revisions.delete(sync);
    this.#faulty.delete(sync);
    this.#writing.delete(sync);
    this.#heads.delete(sync);
  }

  /** Whether a Plugin declares an object now. One that is on its way out declares nothing. */
  declares(pluginKey: string, object: string): Answer {
    const plugin = this.#options.plugin(pluginKey);
    if (plugin === undefined || plugin.metadata.deletionTimestamp !== undefined) return 'no';
    const sync = syncKeyOf(plugin);
    if (sync !== undefined) {
      if (this.#writing.has(sync)) return 'unknown';
      const revision = this.#revisions.get(sync);
      if (revision === undefined && this.#options.syncExists(sync)) return 'unknown';
      if (revision !== undefined && !revision.has(pluginKey)) return 'no';
    }
    if (!this.#options.isWanted(plugin)) return 'no';
    const objects = this.objectsOf(plugin);
    if (objects === undefined) return 'unknown';
    return objects.has(object) ? 'yes' : 'no';
  }

  /** The Syncs whose revision has the Plugin. One of them writes it, the others were told. */
  syncsWith(plugin: string): string[] {
    return [...this.#revisions].filter(([, plugins]) => plugins.has(plugin)).map(([sync]) => sync);
  }

  /** True when the Sync's revision is known and no longer holds the Plugin. */
  isDropped(sync: string, plugin: string): boolean {
    const revision = this.#revisions.get(sync);
    return revision !== undefined && !revision.has(plugin);
  }

  /** Another Plugin that declares the object now. */
  elsewhere(pluginKey: string, object: string): string | undefined {
    for (const plugin of this.#options.plugins()) {
      const key = keyOf(plugin);
      if (key !== pluginKey && this.declares(key, object) === 'yes') return key;
    }
    return undefined;
  }

  /**
   * Undefined when everything that could take an object over from this Plugin is known; else what is still missing.
   * Nothing is deleted before that.
   */
  whatIsUnknown(plugin: Plugin): string | undefined {
    const sync = syncKeyOf(plugin);
    if (sync === undefined) return undefined;
    if (!this.#revisions.has(sync) && !this.#options.syncExists(sync)) return undefined;
    if (this.#writing.has(sync) || !this.#revisions.has(sync)) return `the revision of Sync ${sync} to be read`;
    if (this.#faulty.has(sync)) return 'every fault of the revision to be corrected';
    return this.unrenderedOf(sync);
  }

  /** The first Plugin of a Sync's revision whose objects are not known. */
  unrenderedOf(sync: string): string | undefined {
    for (const key of this.#revisions.get(sync) ?? []) {
      const plugin = this.#options.plugin(key);
      if (plugin === undefined) return `Plugin ${key} to appear`;
      if (plugin.metadata.deletionTimestamp !== undefined || !this.#options.isWanted(plugin)) continue;
      if (this.objectsOf(plugin) === undefined) return `Plugin ${key} to render`;
    }
    return undefined;
  }

  /** Reference keys of what a Plugin declares at its current key; undefined while that is not known. */
  objectsOf(plugin: Plugin): ReadonlySet<string> | undefined {
    const current = this.#options.currentKey(plugin);
    // A suspended one is left as it is; whatever it would be made from may stay unread for long.
    if (current === undefined) return plugin.spec.suspend ? recordedOf(plugin) : undefined;
    const rendered = this.#rendered.get(keyOf(plugin));
    if (rendered?.key === current) return rendered.objects;
    if (plugin.status?.revision?.key !== current) return undefined;
    const objects = recordedOf(plugin);
    this.#rendered.set(keyOf(plugin), { key: current, objects });
    return objects;
  }
}

function recordedOf({ status }: Plugin): Set<string> {
  return new Set((status?.inventory ?? []).filter(isDeclared).map((entry) => refKey(entry)));
}
