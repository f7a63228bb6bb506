import { API_VERSION, type Plugin, refKey, refOf } from '../api/index.ts';
import { SYNC_OWNER } from '../plan/ownership.ts';
import { factsKeyOf, parentsOf, pluginKeyIn, pluginKeysIn, rootOf, syncKeyOf } from './nesting.ts';
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

  /**
   * The commit at which a folder of the Sync's repository counts for a Plugin that the Sync did not write. Undefined while
   * the Plugin may be about to be declared otherwise.
   */
  headFor(plugin: Plugin): string | undefined {
    const nesting = parentsOf(plugin, this.#options.plugin);
    if (nesting.state !== 'known' || !nesting.parents.every((parent) => this.#isWritten(parent))) return undefined;
    const sync = factsKeyOf(nesting.parents.at(-1) ?? plugin);
    if (sync === undefined || this.#writing.has(sync) || !this.#revisions.has(sync)) return undefined;
    return this.#heads.get(sync);
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

  /** Whether a Plugin, or a Sync (`Sync <key>`), declares an object now. A Plugin that is on its way out declares nothing. */
  declares(owner: string, object: string): Answer {
    if (owner.startsWith(SYNC_OWNER)) {
      const sync = owner.slice(SYNC_OWNER.length);
      return this.#options.syncExists(sync) ? this.#inRevision(sync, pluginKeyIn(object) ?? '') : 'no';
    }
    const plugin = this.#options.plugin(owner);
    if (plugin === undefined || plugin.metadata.deletionTimestamp !== undefined) return 'no';
    const own = this.#isDeclared(plugin);
    if (own !== 'yes') return own;
    if (!this.#options.isWanted(plugin)) return 'no';
    const objects = this.objectsOf(plugin);
    if (objects === undefined) return 'unknown';
    return objects.has(object) ? 'yes' : 'no';
  }

  /** Whether a Plugin itself is declared: by the revision of its Sync, or by the Plugin that renders it. */
  #isDeclared(plugin: Plugin): Answer {
    const nesting = parentsOf(plugin, this.#options.plugin);
    // What it is nested in is gone, or can't be right: it stands for itself, and declares what nobody knows.
    const [parent] = nesting.state === 'known' ? nesting.parents : [];
    if (parent !== undefined) {
      const answer = this.declares(keyOf(parent), refKey(refOf(plugin)));
      return answer === 'yes' && !this.#isWritten(parent) ? 'unknown' : answer;
    }
    const sync = syncKeyOf(plugin);
    return sync === undefined ? 'yes' : this.#inRevision(sync, keyOf(plugin));
  }

  #inRevision(sync: string, plugin: string): Answer {
    if (this.#writing.has(sync)) return 'unknown';
    const revision = this.#revisions.get(sync);
    if (revision === undefined) return this.#options.syncExists(sync) ? 'unknown' : 'yes';
    return revision.has(plugin) ? 'yes' : 'no';
  }

  /** Whether what a Plugin declares now is applied: before that, the Plugins nested in it may be those of yesterday. */
  #isWritten(plugin: Plugin): boolean {
    return plugin.spec.suspend || plugin.status?.revision?.key === this.#options.currentKey(plugin);
  }

  /** Whether nothing more comes of what a Plugin declares now: it is applied, or it failed. */
  isAtRest(plugin: Plugin): boolean {
    const root = rootOf(plugin, this.#options.plugin);
    const sync = root === undefined ? undefined : syncKeyOf(root);
    if (sync !== undefined && this.#writing.has(sync)) return false;
    const { phase, attempted } = plugin.status ?? {};
    return this.#isWritten(plugin) || (phase === 'Failed' && attempted?.key === this.#options.currentKey(plugin));
  }

  /** The Syncs whose revision has the Plugin. One of them writes it, the others were told. */
  syncsWith(plugin: string): string[] {
    return [...this.#revisions].filter(([, plugins]) => plugins.has(plugin)).map(([sync]) => sync);
  }

  /** The Plugin that renders a Plugin now. */
  renderedBy(plugin: string): string | undefined {
    const at = refKey({ apiVersion: API_VERSION, kind: 'Plugin', ...namesIn(plugin) });
    for (const other of this.#options.plugins()) if (this.declares(keyOf(other), at) === 'yes') return keyOf(other);
    return undefined;
  }

  /** True when the Sync's revision is known and no longer holds the Plugin. */
  isDropped(sync: string, plugin: string): boolean {
    const revision = this.#revisions.get(sync);
    return revision !== undefined && !revision.has(plugin);
  }

  /** Another Plugin that declares the object now; of a Plugin, also the Sync whose revision has it. */
  elsewhere(pluginKey: string, object: string): string | undefined {
    const target = pluginKeyIn(object);
    const [sync] = target === undefined ? [] : this.syncsWith(target);
    if (sync !== undefined) return `${SYNC_OWNER}${sync}`;
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
    const root = rootOf(plugin, this.#options.plugin);
    if (root === undefined) return undefined;
    const sync = syncKeyOf(root);
    if (sync === undefined) return root === plugin && !this.#nests(root) ? undefined : this.#unrendered([keyOf(root)]);
    if (!this.#revisions.has(sync) && !this.#options.syncExists(sync)) return undefined;
    if (this.#writing.has(sync) || !this.#revisions.has(sync)) return `the revision of Sync ${sync} to be read`;
    if (this.#faulty.has(sync)) return 'every fault of the revision to be corrected';
    return this.unrenderedOf(sync);
  }

  /** The first Plugin of a Sync's revision, or nested in it, whose objects are not known. */
  unrenderedOf(sync: string): string | undefined {
    return this.#unrendered(this.#revisions.get(sync) ?? []);
  }

  #unrendered(keys: Iterable<string>, seen = new Set<string>()): string | undefined {
    for (const key of keys) {
      if (seen.has(key)) continue;
      seen.add(key);
      const plugin = this.#options.plugin(key);
      if (plugin === undefined) return `Plugin ${key} to appear`;
      if (plugin.metadata.deletionTimestamp !== undefined || !this.#options.isWanted(plugin)) continue;
      const objects = this.objectsOf(plugin);
      if (objects === undefined) return `Plugin ${key} to render`;
      const nested = pluginKeysIn(objects);
      if (nested.length === 0) continue;
      if (!this.#isWritten(plugin)) return `the Plugins that ${key} renders to be applied`;
      const unknown = this.#unrendered(nested, seen);
      if (unknown !== undefined) return unknown;
    }
    return undefined;
  }

  #nests(plugin: Plugin): boolean {
    const recorded = plugin.status?.inventory ?? [];
    return pluginKeysIn([...recorded.map(refKey), ...(this.objectsOf(plugin) ?? [])]).length > 0;
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

function namesIn(key: string): { namespace: string; name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
