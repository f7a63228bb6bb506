import {
  ANNOTATION,
  type Extension,
  type ExtensionInstance,
  LABEL,
  type OciSource,
  type Plugin,
} from '../api/index.ts';
import { type Installed, type ResolvedInstance, resolveInstance } from '../resolve/catalogue.ts';
import type { Tags } from '../resolve/extension-versions.ts';
import { windowOpen } from '../runtime/cron.ts';
import { readinessOf } from './readiness.ts';

/** What the cluster, the registries and the clock say to those who expand the catalogue. */
export interface CatalogueFacts {
  /** `gitVersion` of the API server; undefined while it is not known. */
  kubernetes: string | undefined;
  now: number;
  extensions: readonly Extension[];
  instances: readonly ExtensionInstance[];
  /** The tags of a registry as the namespace of an instance may read them, or why they are not known (yet). */
  tags(namespace: string, source: OciSource): Promise<readonly string[] | { unknown: string }>;
}

/** The catalogue as it counts for one question: which Extensions there are, and which Plugins instances stand for. */
export interface Catalogue {
  extensions: ReadonlyMap<string, Extension>;
  /** By the name of the extension. */
  instances: ReadonlyMap<string, readonly { namespace: string; name: string }[]>;
}

/** Which instances there are of each extension. */
export function instancesByExtension(instances: Iterable<ExtensionInstance>): Catalogue['instances'] {
  const found = new Map<string, { namespace: string; name: string }[]>();
  for (const { metadata, spec } of instances) {
    const list = found.get(spec.extension) ?? [];
    found.set(spec.extension, list);
    list.push({ namespace: metadata.namespace ?? '', name: metadata.name });
  }
  for (const list of found.values())
    list.sort((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
  return found;
}

/** What an instance is to become, asking the registries that its extension names. */
export async function resolveIn(
  catalogue: Catalogue,
  instance: ExtensionInstance,
  plugin: Plugin | undefined,
  { kubernetes, now, tags }: Pick<CatalogueFacts, 'kubernetes' | 'now' | 'tags'>,
): Promise<ResolvedInstance> {
  const extension = catalogue.extensions.get(instance.spec.extension);
  const answers = new Map<string, readonly string[] | { unknown: string }>();
  for (const { tagsFollow, source } of extension?.spec.versions ?? [])
    if (tagsFollow !== undefined && source.oci !== undefined)
      answers.set(source.oci.url, await tags(instance.metadata.namespace ?? '', source.oci));
  const known: Tags = ({ url }) => answers.get(url) ?? { unknown: `${url} was not asked` };
  const { window } = instance.spec.upgrade;
  return resolveInstance({
    instance,
    extension: (name) => catalogue.extensions.get(name),
    names: () => catalogue.extensions.keys(),
    kubernetes,
    tags: known,
    installed: installedOf(instance, plugin),
    window: window === undefined ? undefined : windowOpen(window, now),
    instancesOf: (name) => catalogue.instances.get(name) ?? [],
  });
}

function installedOf(instance: ExtensionInstance, plugin: Plugin | undefined): Installed | undefined {
  const version = plugin?.metadata.annotations?.[ANNOTATION.extensionVersion];
  if (plugin === undefined || version === undefined || plugin.metadata.deletionTimestamp !== undefined)
    return undefined;
  if (plugin.metadata.labels?.[LABEL.instance] !== instance.metadata.name) return undefined;
  return { version, isReady: readinessOf(plugin, undefined).ready };
}
