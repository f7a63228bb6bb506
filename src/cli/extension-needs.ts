import type { Plugin } from '../api/index.ts';
import { LABEL } from '../api/names.ts';
import { dependenciesOf } from '../reconcile/dependents.ts';
import { type Catalogue, instancesOf, type KnownInstance, keyOfInstance } from './known-catalogue.ts';

/**
 * Who needs an instance, as `instance team/web` or `plugin team/dns`: instances of extensions that need its extension, where
 * it is the only one of that; and Plugins that name its Plugin, unless they stand for an instance that is listed already.
 */
export function whoNeeds(catalogue: Catalogue, wanted: KnownInstance): string[] {
  const { extension } = wanted.object.spec;
  const key = keyOfInstance(wanted.object);
  const isOnly = instancesOf(catalogue, extension).every(({ object }) => keyOfInstance(object) === key);
  const instances = catalogue.instances.filter(
    ({ object }) =>
      isOnly &&
      keyOfInstance(object) !== key &&
      catalogue.extensions.get(object.spec.extension)?.spec.dependsOn?.includes(extension) === true,
  );
  const known = new Set(catalogue.instances.map(({ object }) => keyOfInstance(object)));
  const plugins = [...catalogue.plugins].filter(
    ([name, plugin]) => name !== key && !isOfInstance(plugin, name, known) && dependenciesOf(plugin).includes(key),
  );
  return [
    ...instances.map(({ object }) => `instance ${keyOfInstance(object)}`),
    ...plugins.map(([name]) => `plugin ${name}`),
  ];
}

/** What an instance needs is said by its extension; its Plugin names all instances of that, of which one may go. */
function isOfInstance(plugin: Plugin, key: string, known: ReadonlySet<string>): boolean {
  return plugin.metadata.labels?.[LABEL.instance] !== undefined && known.has(key);
}
