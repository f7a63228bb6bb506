import type { JsonObject, KubeObject } from '../../api/index.ts';
import { ignoredBy } from './argo-ignore.ts';
import { type ArgoKind, type SourcePart, sourcePart } from './argo-source.ts';
import { ownKindsIn } from './flux-common.ts';
import { type DraftPlugin, draftPlugin, type Leave } from './imported.ts';
import { at, isMap, isOn, leaveFields, listAt, mapAt, textAt, textsAt } from './read.ts';
import type { World } from './world.ts';

const FIELDS: Readonly<Record<string, string | true>> = {
  ...{ source: true, sources: true, destination: true, project: true, syncPolicy: true, ignoreDifferences: true },
  ...{ revisionHistoryLimit: true, info: true },
  sourceHydrator: 'manifests are not written to a branch: Espalier plans on the pull request',
};
const SYNC_POLICY: Readonly<Record<string, string | true>> = {
  ...{ automated: true, syncOptions: true, retry: true },
  managedNamespaceMetadata: 'labels of the namespace are not carried: declare the namespace itself',
};
/** What Espalier does anyway, or has no need of. */
const OPTIONS = new Set([
  ...[
    'CreateNamespace',
    'ServerSideApply',
    'ApplyOutOfSyncOnly',
    'RespectIgnoreDifferences',
    'PruneLast',
    'FailOnSharedResource',
  ],
  ...['SkipDryRunOnMissingResource', 'PrunePropagationPolicy', 'ClientSideApplyMigration'],
]);

export interface FromApplication {
  plugin: DraftPlugin;
  overlay?: { path: string; content: JsonObject };
}

/** An Application as Plugins, one for each source that has objects. */
export function fromApplication(
  object: KubeObject,
  dependsOn: readonly JsonObject[],
  world: World,
  leave: Leave,
): FromApplication[] {
  const { spec } = object;
  const { namespace = '', name } = object.metadata;
  const server = textAt(spec, 'destination', 'server') ?? 'https://kubernetes.default.svc';
  const cluster = textAt(spec, 'destination', 'name') ?? 'in-cluster';
  if (cluster !== 'in-cluster' || server !== 'https://kubernetes.default.svc') {
    leave('spec.destination', 'it is for another cluster: that cluster gets an agent of its own');
    return [];
  }
  const { own, others } = ownKindsIn(listAt(object, 'status', 'resources'), /^argoproj\.io$/);
  if (own.length > 0 && others === 0) {
    leave('', `it applies objects of Argo CD and nothing else (${own.join(', ')}): they are imported themselves`);
    return [];
  }
  if (own.length > 0) leave('spec.source', `it holds objects of Argo CD (${own.join(', ')}): take them out of it`);
  leaveFields(spec, FIELDS, 'spec', leave);
  const policy = policyOf(spec, leave);
  const drift = { ...policy.drift, ...listed('ignore', ignoredBy(spec, leave)) };
  const target = textAt(spec, 'destination', 'namespace');
  return partsOf(object, world, leave).map(({ part, name: own, place }): FromApplication => {
    const { overlay, release, spec: its } = part;
    if (release !== undefined && release !== name)
      leave('metadata.name', `its Plugin is called ${release}: charts name their objects after it`);
    const create = policy.createNamespace ? { create: true } : {};
    const plugin = draftPlugin(namespace, release ?? own, {
      kind: part.kind,
      ...(target === undefined ? {} : { namespace: { name: target, ...create } }),
      ...its,
      dependsOn: [...dependsOn],
      drift,
    });
    return overlay === undefined
      ? { plugin }
      : { plugin, overlay: { path: `${place}/kustomization.yaml`, content: overlay } };
  });
}

function partsOf(object: KubeObject, world: World, leave: Leave): { part: SourcePart; name: string; place: string }[] {
  const { namespace = '', name } = object.metadata;
  const single = mapAt(object, 'spec', 'source');
  const sources = single === undefined ? listAt(object, 'spec', 'sources') : [single];
  const types =
    single === undefined ? textsAt(object, 'status', 'sourceTypes') : [textAt(object, 'status', 'sourceType')];
  const refs = new Map(sources.map((source) => [textAt(source, 'ref') ?? '', textAt(source, 'repoURL') ?? '']));
  return sources.flatMap((source, index) => {
    const isValuesOnly =
      textAt(source, 'ref') !== undefined &&
      textAt(source, 'path') === undefined &&
      textAt(source, 'chart') === undefined;
    if (!isMap(source) || isValuesOnly) return [];
    const where = single === undefined ? `spec.sources[${index}]` : 'spec.source';
    const own = index === 0 || single !== undefined ? name : `${name}-${index + 1}`;
    const place = `kustomizations/${namespace}/${own}`;
    const told = types[index] as ArgoKind | undefined;
    const part = sourcePart({ source, told, application: name, where, place, refs }, world, leave);
    return part === undefined ? [] : [{ part, name: own, place }];
  });
}

function policyOf(spec: unknown, leave: Leave): { createNamespace: boolean; drift: JsonObject } {
  const policy = mapAt(spec, 'syncPolicy');
  leaveFields(policy, SYNC_POLICY, 'spec.syncPolicy', leave);
  const options = textsAt(policy, 'syncOptions');
  const automated = at(policy, 'automated');
  const isAutomated = isMap(automated) && at(automated, 'enabled') !== false;
  for (const option of options) {
    const [name = '', value = ''] = option.split('=');
    if (!OPTIONS.has(name) && value !== 'false') leave('spec.syncPolicy.syncOptions', `${option} has no counterpart`);
  }
  if (!isAutomated)
    leave(
      'spec.syncPolicy.automated',
      'it was synced by hand; Espalier applies every commit: decide in the pull request',
    );
  else if (!isOn(automated, 'prune')) leave('spec.syncPolicy.automated.prune', 'objects that leave Git are removed');
  const repairs = isAutomated && isOn(automated, 'selfHeal');
  return { createNamespace: options.includes('CreateNamespace=true'), drift: repairs ? {} : { mode: 'report' } };
}

function listed(field: string, values: readonly JsonObject[]): JsonObject {
  return values.length === 0 ? {} : { [field]: [...values] };
}
