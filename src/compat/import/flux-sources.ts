import type { JsonObject, KubeObject } from '../../api/index.ts';
import { cleanPath, isSameRepository } from './address.ts';
import type { Leave } from './imported.ts';
import { isOn, leaveFields, listAt, mapAt, present, textAt } from './read.ts';
import { type FluxWorld, fluxKey } from './world.ts';

/** A source of Flux as `spec.source` of a Plugin, or why there is none. */
export type SourceOutcome = { source: JsonObject; poll?: string; url: string; own: boolean } | { why: string };

export interface SourceRef {
  kind: string;
  namespace: string;
  name: string;
}

export function refAt(value: unknown, namespace: string): SourceRef {
  return {
    kind: textAt(value, 'kind') ?? '',
    namespace: textAt(value, 'namespace') ?? namespace,
    name: textAt(value, 'name') ?? '',
  };
}

/** The chart that a HelmRelease installs: `spec.chart.spec`, or what `spec.chartRef` names. */
export function chartSource(spec: unknown, namespace: string, world: FluxWorld, leave: Leave): SourceOutcome {
  const template = mapAt(spec, 'chart', 'spec');
  if (template !== undefined) return fromTemplate(template, namespace, namespace, 'spec.chart.spec', world, leave);
  const ref = refAt(mapAt(spec, 'chartRef'), namespace);
  const object = world.sources.get(fluxKey(ref.kind, ref.namespace, ref.name));
  if (object === undefined) return { why: `its chart comes from ${told(ref)}, which is not there` };
  if (ref.kind === 'OCIRepository') return fromOci(object, namespace, leave);
  if (ref.kind === 'HelmChart')
    return fromTemplate(object.spec, ref.namespace, namespace, `${told(ref)} spec`, world, leave);
  return { why: `its chart comes from ${told(ref)}, and Espalier knows charts from repositories, registries and Git` };
}

/** The folder of a Kustomization. */
export function folderSource(
  spec: unknown,
  path: string,
  namespace: string,
  world: FluxWorld,
  leave: Leave,
): SourceOutcome {
  const ref = refAt(mapAt(spec, 'sourceRef'), namespace);
  const object = world.sources.get(fluxKey(ref.kind, ref.namespace, ref.name));
  if (object === undefined) return { why: `its files come from ${told(ref)}, which is not there` };
  if (ref.kind !== 'GitRepository') {
    return {
      why: `its files come from ${told(ref)}, and Espalier takes manifests from Git: put them into the repository`,
    };
  }
  return fromGit(object, path, namespace, world, leave);
}

/** Not carried, and no harm: Espalier has its own ways. */
const CHART_TEMPLATE: Readonly<Record<string, string | true>> = {
  ...{ chart: true, version: true, sourceRef: true, interval: true, reconcileStrategy: true, verify: true },
  ignoreMissingValuesFiles: true,
  valuesFiles: 'the values of these files of the chart count no longer: copy them into spec.values of the Plugin',
  valuesFile: 'the values of this file of the chart count no longer: copy them into spec.values of the Plugin',
};

function fromTemplate(
  template: unknown,
  from: string,
  namespace: string,
  where: string,
  world: FluxWorld,
  leave: Leave,
): SourceOutcome {
  const ref = refAt(mapAt(template, 'sourceRef'), from);
  const chart = textAt(template, 'chart') ?? '';
  const object = world.sources.get(fluxKey(ref.kind, ref.namespace, ref.name));
  if (object === undefined) return { why: `its chart comes from ${told(ref)}, which is not there` };
  leaveFields(template, CHART_TEMPLATE, where, leave);
  if (ref.kind === 'GitRepository') return fromGit(object, chart, namespace, world, leave);
  if (ref.kind !== 'HelmRepository') return { why: `its chart comes from ${told(ref)}, which Espalier can't read` };
  const url = textAt(object, 'spec', 'url') ?? '';
  const written = textAt(template, 'version');
  const version = written === '*' ? undefined : written;
  const shared = { ...secretOf(object, namespace, leave), ...verifyOf(template, where, leave) };
  leaveAccess(object, leave);
  const poll = textAt(template, 'interval') ?? textAt(object, 'spec', 'interval');
  const source: JsonObject = url.startsWith('oci://')
    ? { oci: { ...present({ url: `${url.replace(/\/+$/, '')}/${chart}`, version }), ...shared } }
    : { chart: { ...present({ repository: url, name: chart, version }), ...shared } };
  return { source, url, own: false, ...(poll === undefined ? {} : { poll }) };
}

function fromOci(object: KubeObject, namespace: string, leave: Leave): SourceOutcome {
  const url = textAt(object, 'spec', 'url') ?? '';
  const ref = mapAt(object, 'spec', 'ref');
  const version = textAt(ref, 'semver') ?? textAt(ref, 'tag');
  leaveAccess(object, leave);
  const oci = present({ url, version: version === 'latest' ? undefined : version, digest: textAt(ref, 'digest') });
  const poll = textAt(object, 'spec', 'interval');
  const shared = { ...secretOf(object, namespace, leave), ...verifyOf(object.spec, `${titled(object)} spec`, leave) };
  return { source: { oci: { ...oci, ...shared } }, url, own: false, ...(poll === undefined ? {} : { poll }) };
}

function fromGit(object: KubeObject, path: string, namespace: string, world: FluxWorld, leave: Leave): SourceOutcome {
  const url = textAt(object, 'spec', 'url') ?? '';
  const clean = cleanPath(path);
  if (clean === undefined) return { why: `its path "${path}" leads out of the repository` };
  for (const field of ['include', 'verify', 'recurseSubmodules', 'proxySecretRef', 'sparseCheckout'] as const)
    if (
      listAt(object, 'spec', field).length > 0 ||
      mapAt(object, 'spec', field) !== undefined ||
      isOn(object, 'spec', field)
    )
      leave(`${titled(object)} spec.${field}`, 'Espalier has nothing like it for a repository');
  if (world.sameRepository !== undefined && isSameRepository(url, world.sameRepository))
    return { source: { git: { path: clean } }, url, own: true };
  leaveAccess(object, leave);
  const git = { path: clean, url, ref: gitRef(object), ...secretOf(object, namespace, leave) };
  const poll = textAt(object, 'spec', 'interval');
  return { source: { git }, url, own: false, ...(poll === undefined ? {} : { poll }) };
}

/** In Flux the most exact one counts, and a branch that nobody names is called master. */
function gitRef(object: KubeObject): JsonObject {
  const ref = mapAt(object, 'spec', 'ref');
  const [commit, name] = [textAt(ref, 'commit'), textAt(ref, 'name')];
  if (commit !== undefined) return { commit };
  if (name?.startsWith('refs/heads/')) return { branch: name.slice('refs/heads/'.length) };
  if (name?.startsWith('refs/tags/')) return { tag: name.slice('refs/tags/'.length) };
  for (const field of ['semver', 'tag', 'branch']) {
    const value = textAt(ref, field);
    if (value !== undefined) return { [field]: value };
  }
  return { branch: 'master' };
}

/** Secrets have the keys that Flux gives them; but they must be in the namespace of the Plugin. */
function secretOf(object: KubeObject, namespace: string, leave: Leave): JsonObject {
  const [login, certificate] = [
    textAt(object, 'spec', 'secretRef', 'name'),
    textAt(object, 'spec', 'certSecretRef', 'name'),
  ];
  const name = login ?? certificate;
  if (name === undefined) return {};
  if (login !== undefined && certificate !== undefined && login !== certificate) {
    leave(
      `${titled(object)} spec.certSecretRef`,
      `put the keys of Secret ${certificate} into Secret ${login}: Espalier reads one`,
    );
  }
  const from = object.metadata.namespace ?? '';
  if (from !== namespace) {
    leave(
      `${titled(object)} spec.secretRef`,
      `copy Secret ${name} from namespace ${from} to ${namespace}: a Plugin reads those beside it`,
    );
  }
  return { secretRef: { name } };
}

function verifyOf(spec: unknown, where: string, leave: Leave): JsonObject {
  const verify = mapAt(spec, 'verify');
  if (verify === undefined) return {};
  const secret = textAt(verify, 'secretRef', 'name');
  if (textAt(verify, 'provider') === 'cosign' && secret !== undefined)
    return { verify: { provider: 'cosign', secretRef: { name: secret } } };
  leave(`${where}.verify`, 'signatures are checked with public keys from a Secret, not by certificate or notation');
  return {};
}

/** Ways to log in that have no Secret. */
function leaveAccess(object: KubeObject, leave: Leave): void {
  const provider = textAt(object, 'spec', 'provider');
  if (provider !== undefined && provider !== 'generic')
    leave(
      `${titled(object)} spec.provider`,
      `there is no login by the identity of ${provider}: name a Secret in the source`,
    );
  for (const field of ['insecure', 'passCredentials'])
    if (isOn(object, 'spec', field))
      leave(`${titled(object)} spec.${field}`, 'the operator allows that for the agent, not a source for itself');
  const layer = mapAt(object, 'spec', 'layerSelector');
  if (layer !== undefined && textAt(layer, 'mediaType') !== 'application/vnd.cncf.helm.chart.content.v1.tar+gzip')
    leave(`${titled(object)} spec.layerSelector`, 'the layer with the chart is taken');
}

function titled(object: KubeObject): string {
  return `${object.kind} ${object.metadata.namespace}/${object.metadata.name}`;
}

function told({ kind, namespace, name }: SourceRef): string {
  return `${kind} ${namespace}/${name}`;
}
