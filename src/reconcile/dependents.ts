import type { Plugin } from '../api/index.ts';
import { keyOf } from './store.ts';

/** Who depends on whom among Plugins, kept up to date as they change, so that a healthy one wakes its dependents at once. */
export class Dependents {
  readonly #dependsOn = new Map<string, readonly string[]>();
  readonly #dependents = new Map<string, Set<string>>();

  /** Returns what the Plugin depended on and does no more: a removal may have waited for that. */
  update(key: string, plugin: Plugin | undefined): string[] {
    const before = this.#dependsOn.get(key) ?? [];
    for (const target of before) this.#dependents.get(target)?.delete(key);
    if (plugin === undefined) {
      this.#dependsOn.delete(key);
      return [...before];
    }
    const targets = dependenciesOf(plugin);
    this.#dependsOn.set(key, targets);
    for (const target of targets) {
      const set = this.#dependents.get(target);
      if (set === undefined) this.#dependents.set(target, new Set([key]));
      else set.add(key);
    }
    return before.filter((target) => !targets.includes(target));
  }

  of(key: string): string[] {
    return [...(this.#dependents.get(key) ?? [])];
  }

  /** True when `from` reaches `to` by following dependencies. */
  reaches(from: string, to: string): boolean {
    const seen = new Set<string>();
    const stack = [from];
    for (let key = stack.pop(); key !== undefined; key = stack.pop()) {
      for (const target of this.#dependsOn.get(key) ?? []) {
        if (target === to) return true;
        if (!seen.has(target)) {
          seen.add(target);
          stack.push(target);
        }
      }
    }
    return false;
  }
}

/** Keys of the Plugins that a Plugin names in `dependsOn`. Those that name other objects are not among them. */
export function dependenciesOf(plugin: Plugin): string[] {
  const own = plugin.metadata.namespace ?? '';
  return (plugin.spec.dependsOn ?? []).flatMap(({ kind = 'Plugin', name, namespace = own }) =>
    kind === 'Plugin' && name !== undefined ? [keyOf({ metadata: { namespace, name } })] : [],
  );
}
