import type { Logger } from 'pino';
import {
  type InventoryEntry,
  isError,
  type KubeObject,
  messageOf,
  type Plugin,
  type PluginStatus,
} from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { type IntentEntry, readIntents, writeIntents } from './intents-text.ts';
import { keyOf } from './store.ts';

export interface IntentsOptions {
  client: Pick<KubeClient, 'get' | 'create' | 'update'>;
  /** The agent's own. */
  namespace: string;
  log: Pick<Logger, 'debug' | 'warn'>;
  /** What `over` says of a Plugin is another thing now. */
  onChange(key: string): void;
}

/** What a new Plugin is about to write. */
export interface Intent {
  attempted: NonNullable<PluginStatus['attempted']>;
  inventory: readonly InventoryEntry[];
}

interface Wish {
  entry: IntentEntry;
  done: PromiseWithResolvers<boolean>;
}

const NAME = 'espalier-intents';
/** A ConfigMap holds 1 MiB. */
const MOST_CHARACTERS = 500_000;

/**
 * The intents (law 3) of new Plugins that begin at the same time, on record in one ConfigMap: one write for as many as
 * came while the last one was under way, where the status of each would cost the API server four times as much.
 *
 * An entry counts for the Plugin with its uid, and only while that has no inventory in its status. The first status that
 * is written for the Plugin takes the intent along, so an entry that is left over means nothing, and is dropped
 * with the next write. The record is read before anything else when an agent begins to lead.
 */
export class Intents {
  readonly #options: IntentsOptions;
  readonly #live = new Map<string, IntentEntry>();
  /** The status that a Plugin has in the cluster, where `over` has laid an intent over it. */
  readonly #written = new WeakMap<Plugin, { status: PluginStatus | undefined }>();
  #line: Wish[] = [];
  #isWriting = false;
  /** The record as it was last seen; `unseen` after a failure, for nobody knows what came of it. */
  #object: KubeObject | 'absent' | 'unseen' = 'unseen';
  #isForbidden = false;

  constructor(options: IntentsOptions) {
    this.#options = options;
  }

  /** What those before us were about to do. Without an answer nothing may be begun. */
  async load(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      if (!isError(error, 'KubeForbidden')) throw error;
      this.#isForbidden = true;
      const { namespace, log } = this.#options;
      log.warn({ error: messageOf(error) }, `no right to ConfigMap ${namespace}/${NAME}: intents go one by one`);
    }
  }

  /** A Plugin with what it was about to write, until its own status says so. */
  over(plugin: Plugin): Plugin {
    const key = keyOf(plugin);
    const entry = this.#live.get(key);
    if (entry === undefined || this.#written.has(plugin)) return plugin;
    if (entry.uid !== plugin.metadata.uid || plugin.status?.inventory !== undefined) {
      this.#live.delete(key);
      return plugin;
    }
    const { attempted, inventory } = entry;
    const told = { ...plugin, status: { ...plugin.status, attempted, inventory: [...inventory] } };
    this.#written.set(told, { status: plugin.status });
    return told;
  }

  /** What a status write has to begin from. */
  statusInCluster(plugin: Plugin): PluginStatus | undefined {
    const written = this.#written.get(plugin);
    return written === undefined ? plugin.status : written.status;
  }

  /** True once it is on record. Where that can't be, it must go into the Plugin's own status. Never throws. */
  async record(plugin: Plugin, intent: Intent): Promise<boolean> {
    const { uid } = plugin.metadata;
    if (uid === undefined || plugin.status?.inventory !== undefined || this.#isForbidden) return false;
    const wish = { entry: { plugin: keyOf(plugin), uid, ...intent }, done: Promise.withResolvers<boolean>() };
    this.#line.push(wish);
    if (!this.#isWriting) void this.#work();
    return await wish.done.promise;
  }

  /** The Plugin is gone, and with it all that it meant to do. */
  forget(key: string): void {
    this.#live.delete(key);
  }

  keys(): string[] {
    return [...this.#live.keys()];
  }

  async #work(): Promise<void> {
    this.#isWriting = true;
    while (this.#line.length > 0) {
      const wishes = this.#line.splice(0);
      const isOnRecord = await this.#write(wishes.map(({ entry }) => entry));
      for (const { entry, done } of wishes) {
        if (isOnRecord) {
          this.#live.set(entry.plugin, entry);
          this.#options.onChange(entry.plugin);
        }
        done.resolve(isOnRecord);
      }
    }
    this.#isWriting = false;
  }

  async #write(fresh: readonly IntentEntry[]): Promise<boolean> {
    const { client, namespace, log } = this.#options;
    try {
      if (this.#object === 'unseen') await this.#read();
      const all = new Map(this.#live);
      for (const entry of fresh) all.set(entry.plugin, entry);
      const data = writeIntents([...all.values()]);
      if (data.intents.length > MOST_CHARACTERS) return false;
      const before = this.#object;
      // Only over the version that was read: another agent may have led meanwhile.
      this.#object = 'unseen';
      if (typeof before === 'string')
        this.#object = await client.create({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: NAME, namespace },
          data,
        });
      else this.#object = await client.update({ ...before, data });
      return true;
    } catch (error) {
      if (isError(error, 'KubeForbidden')) this.#isForbidden = true;
      log.debug({ error: messageOf(error) }, 'intents could not be written together');
      return false;
    }
  }

  async #read(): Promise<void> {
    const { client, namespace, onChange } = this.#options;
    const object = await client.get({ apiVersion: 'v1', kind: 'ConfigMap', name: NAME, namespace });
    this.#object = object ?? 'absent';
    for (const entry of readIntents(object)) {
      if (this.#live.has(entry.plugin)) continue;
      this.#live.set(entry.plugin, entry);
      onChange(entry.plugin);
    }
  }
}
