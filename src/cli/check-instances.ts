import {
  ANNOTATION,
  CONDITION,
  type Extension,
  type ExtensionInstance,
  isTrue,
  type Plugin,
  type PluginDeclaration,
} from '../api/index.ts';
import { keyOf } from '../reconcile/store.ts';
import { type Installed, type ResolvedInstance, resolveInstance } from '../resolve/catalogue.ts';
import { candidatesOf, sameApp, type Tags } from '../resolve/extension-versions.ts';
import type { KubernetesTarget } from '../resolve/served-apis.ts';
import type { Checked, Finding } from './check-model.ts';

export interface Catalogue {
  extensions: readonly Extension[];
  instances: readonly ExtensionInstance[];
  /** Those of others, which extensions may need. */
  others: readonly ExtensionInstance[];
  /** Plugins in the cluster, by key. */
  live: ReadonlyMap<string, Plugin>;
  tags: Tags;
  to: KubernetesTarget;
}

export interface CheckedInstance {
  item: Checked;
  /** What it will be, to be rendered; undefined: what is installed stays, or there is nothing. */
  plugin: PluginDeclaration | undefined;
}

/** Which version every instance has once Kubernetes is another one, by key. */
export function checkInstances(catalogue: Catalogue): Map<string, CheckedInstance> {
  return new Map(catalogue.instances.map((instance) => [keyOf(instance), checkInstance(catalogue, instance)]));
}

function checkInstance(catalogue: Catalogue, instance: ExtensionInstance): CheckedInstance {
  const { metadata, spec } = instance;
  const installed = installedOf(catalogue.live.get(keyOf(instance)));
  // Windows open and close until then: that it has one is told, not whether it is open today.
  const resolved = resolveFor(catalogue, instance, installed);
  const item: Checked = {
    kind: 'ExtensionInstance',
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    findings: [],
    ...(installed === undefined ? {} : { before: installed.version }),
  };
  if (resolved.state === 'refused') return { item: told(item, 'Refused', resolved.why), plugin: undefined };
  if (resolved.state !== 'made' && resolved.next === undefined) {
    const others = resolved.available.length === 0 ? '' : `; ${resolved.available.join(', ')} would fit`;
    return { item: told(item, 'NoVersionFits', `${resolved.why}${others}`), plugin: undefined };
  }
  const { next } = resolved;
  const extension = catalogue.extensions.find((one) => one.metadata.name === spec.extension);
  const offered = extension === undefined ? [] : candidatesOf(extension, catalogue.to.gitVersion, catalogue.tags).all;
  const find = (version: string) => offered.find(({ app }) => sameApp(app, version));
  const isHeld = next !== undefined && installed !== undefined && resolved.version === installed.version;
  if (isHeld && find(installed.version)?.fits !== true) {
    const why = `${next.version} fits, and waits until ${next.waitsFor}; ${installed.version} does not fit`;
    const goal = resolveFor(catalogue, instance, undefined);
    return {
      item: { ...told(item, 'Waits', why), after: next.version },
      plugin: goal.state === 'made' ? goal.plugin : undefined,
    };
  }
  const then = resolved.version ?? '';
  const moves = installed !== undefined && !sameApp(installed.version, then);
  const findings: Finding[] = [{ code: moves || installed === undefined ? 'Moves' : 'Stays', message: resolved.why }];
  const { deprecated } = find(then) ?? {};
  if (deprecated !== undefined)
    findings.push({ code: 'VersionDeprecated', message: `${then} is deprecated: ${deprecated}` });
  const { window } = spec.upgrade;
  if (moves && window !== undefined)
    findings.push({ code: 'Waits', message: `${then} waits for its window (${window.cron} for ${window.for})` });
  return { item: { ...item, after: then, findings }, plugin: resolved.state === 'made' ? resolved.plugin : undefined };
}

function resolveFor(
  { extensions, instances, others, tags, to }: Catalogue,
  instance: ExtensionInstance,
  installed: Installed | undefined,
): ResolvedInstance {
  return resolveInstance({
    instance,
    extension: (name) => extensions.find(({ metadata }) => metadata.name === name),
    names: () => extensions.map(({ metadata }) => metadata.name),
    kubernetes: to.gitVersion,
    tags,
    installed,
    window: undefined,
    instancesOf: (name) =>
      [...instances, ...others]
        .filter(({ spec }) => spec.extension === name)
        .map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name })),
  });
}

function installedOf(plugin: Plugin | undefined): Installed | undefined {
  const version = plugin?.metadata.annotations?.[ANNOTATION.extensionVersion];
  if (plugin === undefined || version === undefined) return undefined;
  return { version, isReady: isTrue(plugin.status?.conditions, CONDITION.Ready) };
}

function told(item: Checked, code: Finding['code'], message: string): Checked {
  return { ...item, findings: [...item.findings, { code, message }] };
}
