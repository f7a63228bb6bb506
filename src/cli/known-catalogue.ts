import type { Extension, ExtensionInstance, Plugin } from '../api/index.ts';
import { ANNOTATION, CONDITION } from '../api/names.ts';
import type { CatalogueFacts } from '../reconcile/catalogue-facts.ts';
import { type Installed, type ResolvedInstance, resolveInstance } from '../resolve/catalogue.ts';
import { type Candidates, candidatesOf, type Tags } from '../resolve/extension-versions.ts';
import { windowOpen } from '../runtime/cron.ts';

/** An instance, declared or implied by the class of its extension. */
export interface KnownInstance {
  object: ExtensionInstance;
  /** Where it is written: its base first, then overlays. Empty for what only the cluster has. */
  parts: readonly { file: string; line: number }[];
  /** It is there because its extension is for every cluster; nobody declared it. */
  isImplied: boolean;
}

/** What can be installed and what is, as far as this command looks. */
export interface Catalogue {
  extensions: ReadonlyMap<string, Extension>;
  instances: readonly KnownInstance[];
  /** Of the cluster, by `namespace/name`; empty where none is asked. */
  plugins: ReadonlyMap<string, Plugin>;
  /** `gitVersion` of the cluster, or what was given for it. */
  kubernetes: string | undefined;
  /** Of the registries that were asked. */
  tags: Tags;
  facts: CatalogueFacts;
}

/** The same catalogue, with the tags of the registries that these extensions name. */
export async function withTags(catalogue: Catalogue, names: readonly string[]): Promise<Catalogue> {
  const answers = new Map<string, readonly string[] | { unknown: string }>();
  const versions = names.flatMap((name) => catalogue.extensions.get(name)?.spec.versions ?? []);
  await Promise.all(
    versions.map(async ({ tagsFollow, source: { oci } }) => {
      if (tagsFollow !== undefined && oci !== undefined) answers.set(oci.url, await catalogue.facts.tags('', oci));
    }),
  );
  return { ...catalogue, tags: ({ url }) => answers.get(url) ?? { unknown: `${url} was not asked` } };
}

/** `team/web`: instances and their Plugins have the same. */
export function keyOfInstance({ metadata }: Pick<ExtensionInstance, 'metadata'>): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

export function instancesOf({ instances }: Pick<Catalogue, 'instances'>, extension: string): KnownInstance[] {
  return instances.filter(({ object }) => object.spec.extension === extension);
}

/** What is there of an instance now. */
export function installedOf({ plugins }: Pick<Catalogue, 'plugins'>, key: string): Installed | undefined {
  const plugin = plugins.get(key);
  const version = plugin?.metadata.annotations?.[ANNOTATION.extensionVersion];
  if (plugin === undefined || version === undefined) return undefined;
  const ready = plugin.status?.conditions?.find(({ type }) => type === CONDITION.Ready);
  return { version, isReady: ready?.status === 'True' };
}

/** The Plugin that an instance stands for, were it a part of this catalogue. */
export function resolveIn(catalogue: Catalogue, instance: ExtensionInstance): ResolvedInstance {
  const { extensions, kubernetes, tags, facts } = catalogue;
  const { window } = instance.spec.upgrade;
  return resolveInstance({
    instance,
    extension: (name) => extensions.get(name),
    names: () => extensions.keys(),
    ...{ kubernetes, tags },
    installed: installedOf(catalogue, keyOfInstance(instance)),
    window: window === undefined ? undefined : windowOpen(window, facts.now),
    instancesOf: (name) =>
      instancesOf(catalogue, name).map(({ object: { metadata } }) => ({
        namespace: metadata.namespace ?? '',
        name: metadata.name,
      })),
  });
}

/** Every version of an extension, newest first, and which of them fit. Without a Kubernetes version it is not known which do. */
export function versionsOf({ kubernetes, tags }: Catalogue, extension: Extension): Candidates {
  return candidatesOf(extension, kubernetes ?? '', tags);
}

/** The newest that fits, as `auto` takes it. */
export function newestOf(candidates: Candidates): string | undefined {
  const fitting = candidates.all.filter(({ fits }) => fits);
  return (fitting.find(({ deprecated }) => deprecated === undefined) ?? fitting[0])?.app;
}

/** Whether the agent may come to another answer: it knows the cluster, and reaches registries that are not reached from here. */
export function isUndecided(catalogue: Catalogue, extension: Extension | undefined): boolean {
  if (catalogue.kubernetes === undefined) return true;
  return extension !== undefined && versionsOf(catalogue, extension).unknown !== undefined;
}
