import { type Extension, type ExtensionInstance, LABEL, type Plugin } from '../api/index.ts';
import { syncKeyOf } from './nesting.ts';
import { isDeclaredAnew } from './news.ts';
import { readinessOf } from './readiness.ts';
import { keyOf, type Stored } from './store.ts';
import type { SyncMemories } from './sync-memory.ts';

export interface CatalogueNewsOptions {
  memories: SyncMemories;
  syncKeys(): Iterable<string>;
  instances(): Iterable<ExtensionInstance>;
  extensionOf(instance: ExtensionInstance): Extension | undefined;
  wakeSync(key: string): void;
  wakeInstance(key: string): void;
  wakeExtension(key: string): void;
}

/** Whose question has another answer when something of the catalogue changes. */
export class CatalogueNews {
  readonly #options: CatalogueNewsOptions;

  constructor(options: CatalogueNewsOptions) {
    this.#options = options;
  }

  /** Kubernetes has another version, or a registry other tags. */
  everything(): void {
    for (const key of this.#options.syncKeys()) this.#stale(key);
    for (const instance of this.#options.instances()) this.#options.wakeInstance(keyOf(instance));
  }

  extension(key: string, before: Extension | undefined, after: Extension | undefined): void {
    if (!isDeclaredAnew(before, after)) return;
    this.#options.wakeExtension(key);
    const name = (after ?? before)?.metadata.name;
    for (const instance of this.#options.instances()) {
      if (instance.spec.extension === name) this.#options.wakeInstance(keyOf(instance));
    }
    this.#others(before, after);
  }

  instance(key: string, before: ExtensionInstance | undefined, after: ExtensionInstance | undefined): void {
    if (!isDeclaredAnew(before, after)) return;
    this.#options.wakeInstance(key);
    const names = new Set([before?.spec.extension, after?.spec.extension].filter((name) => name !== undefined));
    for (const name of names) this.#options.wakeExtension(`/${name}`);
    if (before === undefined || after === undefined || names.size > 1) this.#dependents(names);
    this.#others(before, after);
    // An approval is no part of what the Sync wrote.
    const own = ownerOf(after);
    if (own !== undefined && before !== undefined) this.#stale(own);
  }

  plugin(key: string, before: Plugin | undefined, after: Plugin | undefined): void {
    if ((after ?? before)?.metadata.labels?.[LABEL.instance] === undefined) return;
    this.#options.wakeInstance(key);
    const own = ownerOf(after ?? before);
    if (own === undefined) return;
    const isReady = (plugin: Plugin | undefined) => readinessOf(plugin, undefined).ready;
    const isDue = this.#options.memories.of(own).compiled?.isPending === true && isReady(before) !== isReady(after);
    if (after === undefined || isDue) this.#stale(own);
  }

  /** Instances of extensions that need one of these: whether there is anything to depend on may have changed. */
  #dependents(names: ReadonlySet<string>): void {
    for (const instance of this.#options.instances()) {
      const needs = this.#options.extensionOf(instance)?.spec.dependsOn ?? [];
      if (needs.some((name) => names.has(name))) this.#options.wakeInstance(keyOf(instance));
    }
  }

  /** Syncs that did not write it themselves. */
  #others(before: Stored | undefined, after: Stored | undefined): void {
    const writers = [ownerOf(before), ownerOf(after)];
    for (const key of this.#options.syncKeys()) if (!writers.includes(key)) this.#stale(key);
    // What somebody deleted or edited by hand is written again.
    for (const writer of new Set(writers)) if (writer !== undefined) this.#options.wakeSync(writer);
  }

  #stale(key: string): void {
    this.#options.memories.of(key).isStale = true;
    this.#options.wakeSync(key);
  }
}

function ownerOf(object: Stored | undefined): string | undefined {
  return object === undefined ? undefined : syncKeyOf(object);
}
