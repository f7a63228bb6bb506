import { API_VERSION, describeRef, describeSelection, labelSelector, refKey } from '../api/index.ts';
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
      const other = otherThanPlugin(dependency);
      if (other !== undefined) {
        mine.add(other.key);
        labels.set(other.key, other.label);
        continue;
      }
      const { name = '', namespace = plugin.namespace } = dependency;
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

/** The object or objects that a dependency means, unless it names a Plugin. */
function otherThanPlugin(dependency: Dependency): { key: string; label: string } | undefined {
  const { kind, apiVersion = 'v1', name, namespace, labels = {} } = dependency;
  if (kind === undefined || (kind === 'Plugin' && (dependency.apiVersion ?? API_VERSION) === API_VERSION))
    return undefined;
  const place = { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }) };
  if (name !== undefined) return { key: refKey({ ...place, name }), label: describeRef({ ...place, name }) };
  const label = describeSelection({ ...place, labels });
  return { key: refKey({ ...place, name: `*${labelSelector(labels)}` }), label };
}

function elsewhere(known: ReadonlyMap<string, GraphPlugin>, name: string): string {
  const found = [...known.values()].filter((plugin) => plugin.name === name).map((plugin) => `"${plugin.namespace}"`);
  return found.length === 0 ? '' : ` (there is one in namespace ${found.join(' and ')}: add that namespace)`;
}
