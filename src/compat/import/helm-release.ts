import type { Json, JsonObject, KubeObject } from '../../api/index.ts';
import { fluxDependencies, fluxHealth, SUSPENDED } from './flux-common.ts';
import { chartSource } from './flux-sources.ts';
import { valuesFromOf } from './flux-values.ts';
import { type DraftPlugin, draftPlugin, type Leave } from './imported.ts';
import { mergePatchesOf, patchesAt } from './patches.ts';
import { at, isMap, isOn, leaveFields, listAt, mapAt, present, textAt, textsAt } from './read.ts';
import type { FluxWorld } from './world.ts';

const REMEDIATION =
  'of remediation, retries and rolling back are carried: a failed upgrade is tried again for ever, ever less often';
const FIELDS: Readonly<Record<string, string | true>> = {
  ...{ chart: true, chartRef: true, interval: true, releaseName: true, targetNamespace: true, storageNamespace: true },
  ...{ dependsOn: true, timeout: true, values: true, valuesFrom: true, suspend: true, serviceAccountName: true },
  ...{ install: true, upgrade: true, test: true, driftDetection: true, postRenderers: true, healthCheckExprs: true },
  ...{ kubeConfig: true, maxHistory: true, persistentClient: true, rollback: true, waitStrategy: true },
  uninstall: 'options of uninstalling are not carried: hooks run, and the history goes',
};
const INSTALL: Readonly<Record<string, string | true>> = {
  ...{ crds: true, createNamespace: true, remediation: true, timeout: true, replace: true, skipCRDs: true },
  ...{
    disableWait: true,
    disableWaitForJobs: true,
    disableOpenAPIValidation: true,
    serverSideApply: true,
    strategy: true,
  },
};
const UPGRADE: Readonly<Record<string, string | true>> = {
  ...{ crds: true, remediation: true, timeout: true, cleanupOnFail: true, disableTakeOwnership: true },
  ...{
    disableWait: true,
    disableWaitForJobs: true,
    disableOpenAPIValidation: true,
    serverSideApply: true,
    strategy: true,
  },
  preserveValues: 'values of the last release do not live on: the Plugin holds all of them',
  force: 'objects are never replaced: what can not be changed is told',
};

/** The name that Flux gives a release: what it says it made comes first, for it shortens long names. */
export function releaseNameOf(object: KubeObject): string {
  const made = textAt(listAt(object, 'status', 'history')[0], 'name');
  const target = textAt(object, 'spec', 'targetNamespace');
  const { name } = object.metadata;
  return made ?? textAt(object, 'spec', 'releaseName') ?? (target === undefined ? name : `${target}-${name}`);
}

/** A HelmRelease as a Plugin of kind helm that takes its release over. Undefined when that can't be. */
export function fromHelmRelease(object: KubeObject, world: FluxWorld, leave: Leave): DraftPlugin | undefined {
  const { spec } = object;
  const { namespace = '' } = object.metadata;
  const target = textAt(spec, 'targetNamespace');
  if (mapAt(spec, 'kubeConfig') !== undefined) {
    leave('spec.kubeConfig', 'it installs into another cluster: that cluster gets an agent of its own');
    return undefined;
  }
  const chart = chartSource(spec, namespace, world, leave);
  if ('why' in chart) {
    leave('spec.chart', chart.why);
    return undefined;
  }
  leaveStorage(object, target ?? namespace, leave);
  leaveFields(spec, FIELDS, 'spec', leave);
  if (isOn(spec, 'suspend')) leave('spec.suspend', SUSPENDED);
  leaveFields(mapAt(spec, 'install'), INSTALL, 'spec.install', leave);
  leaveFields(mapAt(spec, 'upgrade'), UPGRADE, 'spec.upgrade', leave);
  const create = isOn(spec, 'install', 'createNamespace');
  const namespaceOf = target === undefined ? undefined : present({ name: target, create: create ? true : undefined });
  return draftPlugin(namespace, releaseNameOf(object), {
    ...present({
      suspend: isOn(spec, 'suspend') ? true : undefined,
      kind: 'helm',
      source: chart.source,
      poll: chart.own ? undefined : chart.poll,
      namespace: namespaceOf,
      values: mapAt(spec, 'values'),
      valuesFrom: valuesFromOf(spec, leave),
      patches: postRendered(spec, world, leave),
      dependsOn: fluxDependencies('HelmRelease', spec, namespace, world, leave),
      health: fluxHealth(spec, leave),
      drift: driftOf(spec),
      upgrade: upgradeOf(spec, leave),
      timeout: textAt(spec, 'timeout'),
      serviceAccountName: textAt(spec, 'serviceAccountName'),
    }),
  });
}

/** Flux keeps the records of a release beside the HelmRelease, Espalier beside the objects, as Helm does. */
function leaveStorage(object: KubeObject, wanted: string, leave: Leave): void {
  const { namespace = '' } = object.metadata;
  const storage =
    textAt(object, 'status', 'storageNamespace') ?? textAt(object, 'spec', 'storageNamespace') ?? namespace;
  if (storage === wanted) return;
  const name = releaseNameOf(object);
  const copy = `kubectl get secret -n ${storage} -l owner=helm,name=${name} -o json | sed 's/"namespace": "${storage}"/"namespace": "${wanted}"/' | kubectl create -f -`;
  const why = `the records of release ${name} are in namespace ${storage}, Espalier looks for them in ${wanted}: copy them first (${copy}), or it is installed once more, with its hooks`;
  leave('spec.storageNamespace', why);
}

/** Flux installs kinds and leaves them alone later, unless it is told otherwise. */
function upgradeOf(spec: unknown, leave: Leave): JsonObject {
  const [first, later] = [textAt(spec, 'install', 'crds'), textAt(spec, 'upgrade', 'crds')];
  const crds = later === 'CreateReplace' ? 'replace' : first === 'Skip' && later !== 'Create' ? 'skip' : 'create';
  const remediation = mapAt(spec, 'upgrade', 'remediation');
  const retries = at(remediation, 'retries') ?? 0;
  const strategy = textAt(remediation, 'strategy') ?? 'rollback';
  const rollsBack = remediation !== undefined && retries !== 0 && strategy === 'rollback';
  if (strategy === 'uninstall')
    leave('spec.upgrade.remediation.strategy', `a failed upgrade is never uninstalled; ${REMEDIATION}`);
  return {
    ...(crds === 'replace' ? {} : { crds }),
    ...(rollsBack ? { onFailure: 'rollback' } : {}),
    ...(isOn(spec, 'test', 'enable') ? { test: true } : {}),
  };
}

/** Without drift detection Flux lets be what somebody changed by hand. */
function driftOf(spec: unknown): JsonObject {
  const modes: Readonly<Record<string, string>> = { enabled: 'repair', warn: 'report', disabled: 'ignore' };
  const mode = modes[textAt(spec, 'driftDetection', 'mode') ?? ''] ?? 'report';
  const ignore = listAt(spec, 'driftDetection', 'ignore').map((rule): JsonObject => {
    const target = mapAt(rule, 'target');
    const { annotationSelector: _, ...known } = target ?? {};
    return { ...(target === undefined ? {} : { target: known }), paths: textsAt(rule, 'paths') };
  });
  return { ...(mode === 'repair' ? {} : { mode }), ...(ignore.length === 0 ? {} : { ignore }) };
}

function postRendered(spec: unknown, world: FluxWorld, leave: Leave): Json[] {
  return listAt(spec, 'postRenderers').flatMap((renderer, index): Json[] => {
    const where = `spec.postRenderers[${index}].kustomize`;
    const kustomize = mapAt(renderer, 'kustomize');
    for (const name of Object.keys(isMap(kustomize) ? kustomize : {}))
      if (name !== 'patches')
        leave(`${where}.${name}`, 'only patches can be carried; set the image in the values of the chart');
    return patchesAt(kustomize, 'patches').flatMap((patch, number) => {
      const outcome = mergePatchesOf(patch, world.parseYaml);
      if ('patches' in outcome) return outcome.patches;
      leave(`${where}.patches[${number}]`, `${outcome.why}: no merge patch does the same; use the values of the chart`);
      return [];
    });
  });
}
