import { API_VERSION, describeRef, type ObjectRef, refKey } from '../api/index.ts';
import { type Dependency, type GraphOptions, type GraphPlugin, pluginKey, type Refusal } from './graph.ts';

export interface Needs {
  needs: Map<string, string[]>;
  /** How to name a key to people, for what isn't a plugin. */
  labels: Map<string, string>;
  refused: Map<string, Refusal>;
}

/** What each plugin names in its `dependsOn`, and which of them name what isn't there. */
export function readNeeds(
  known: ReadonlyMap<string, GraphPlugin>,
  { mayName = () => true, mayAppear = false }: GraphOptions,
): Needs {
  const needs = new Map<string, string[]>();
  const labels = new Map<string, string>();
  const refused = new Map<string, Refusal>();
  for (const [key, plugin] of known) {
    const mine = new Set<string>();
    const faults: string[] = [];
    for (const dependency of plugin.dependsOn ?? []) {
      const { name, namespace = plugin.namespace } = dependency;
      // Every object of a kind: nobody is known to make those.
      if (name === undefined) continue;
      const object = objectOf({ ...dependency, name });
      if (object !== undefined) {
        mine.add(refKey(object));
        labels.set(refKey(object), describeRef(object));
        continue;
      }
      const target = pluginKey({ namespace, name });
      if (!mayName(namespace)) faults.push(`the Plugin ${target}, whose namespace this Sync may not use`);
      else if (known.has(target) || mayAppear) mine.add(target);
      else faults.push(`the Plugin ${target}, which nothing declares${elsewhere(known, name)}`);
    }
    needs.set(key, [...mine]);
    if (faults.length > 0)
      refused.set(key, { code: 'DependencyMissing', message: `dependsOn names ${faults.join('; and ')}` });
  }
  return { needs, labels, refused };
}

/** The object that a dependency names, unless it names a Plugin. */
function objectOf(dependency: Dependency & { name: string }): ObjectRef | undefined {
  const { kind, apiVersion = 'v1', name, namespace } = dependency;
  if (kind === undefined || (kind === 'Plugin' && (dependency.apiVersion ?? API_VERSION) === API_VERSION))
    return undefined;
  return { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) };
}

function elsewhere(known: ReadonlyMap<string, GraphPlugin>, name: string): string {
  const found = [...known.values()].filter((plugin) => plugin.name === name).map((plugin) => `"${plugin.namespace}"`);
  return found.length === 0 ? '' : ` (there is one in namespace ${found.join(' and ')}: add that namespace)`;
}
