import type { Plugin } from '../api/index.ts';
import { parentKeyOf } from './nesting.ts';

/** What is nested in which Plugin directly, kept up to date as Plugins change: few have children, and each change asks. */
export class Children {
  readonly #parents = new Map<string, string>();
  readonly #children = new Map<string, Set<string>>();

  /** To be told of every change before anybody asks; undefined when the Plugin is gone. */
  update(key: string, plugin: Plugin | undefined): void {
    const before = this.#parents.get(key);
    const parent = plugin === undefined ? undefined : parentKeyOf(plugin);
    if (parent === before) return;
    if (before !== undefined) this.#leave(key, before);
    if (parent !== undefined) this.#enter(key, parent);
  }

  /** Keys of what is there now and names this parent, whether that is there or not. */
  of(parent: string): string[] {
    return [...(this.#children.get(parent) ?? [])];
  }

  #leave(key: string, parent: string): void {
    const siblings = this.#children.get(parent);
    siblings?.delete(key);
    if (siblings?.size === 0) this.#children.delete(parent);
    this.#parents.delete(key);
  }

  #enter(key: string, parent: string): void {
    const siblings = this.#children.get(parent);
    if (siblings === undefined) this.#children.set(parent, new Set([key]));
    else siblings.add(key);
    this.#parents.set(key, parent);
  }
}
