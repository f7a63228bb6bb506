import type { KubeObject } from '../../api/index.ts';
import { fluxDependencies, fluxHealth, ownKindsIn, SUSPENDED } from './flux-common.ts';
import { folderSource } from './flux-sources.ts';
import { type DraftPlugin, draftPlugin, type Leave } from './imported.ts';
import { isOn, leaveFields, listAt, mapAt, present, textAt } from './read.ts';
import { overlayOf, type Transformations, transformationsOf, withoutOverlay } from './transform.ts';
import { type FluxWorld, fluxKey, folderKind } from './world.ts';

const FIELDS: Readonly<Record<string, string | true>> = {
  ...{
    path: true,
    sourceRef: true,
    interval: true,
    retryInterval: true,
    prune: true,
    deletionPolicy: true,
    wait: true,
  },
  ...{ targetNamespace: true, patches: true, images: true, components: true, namePrefix: true, nameSuffix: true },
  ...{
    commonMetadata: true,
    dependsOn: true,
    timeout: true,
    suspend: true,
    serviceAccountName: true,
    kubeConfig: true,
  },
  ...{ healthChecks: true, healthCheckExprs: true, ignoreMissingComponents: true },
  postBuild:
    'variables in the files are not replaced: write their values into the files, or make it a folder of templates (source.git.template)',
  decryption: 'encrypted files are not decrypted: keep these Secrets out of the folder',
  force: 'objects are never replaced: what can not be changed is told',
};

export interface FromKustomization {
  plugin: DraftPlugin;
  /** The kustomization to be written, where the folder alone is not enough. */
  overlay?: { path: string; content: Transformations };
}

/** A Kustomization as a Plugin of the same folder. Undefined when that can't be. */
export function fromKustomization(object: KubeObject, world: FluxWorld, leave: Leave): FromKustomization | undefined {
  const { spec } = object;
  const { namespace = '', name } = object.metadata;
  if (mapAt(spec, 'kubeConfig') !== undefined) {
    leave('spec.kubeConfig', 'it applies to another cluster: that cluster gets an agent of its own');
    return undefined;
  }
  const { own, others } = ownKindsIn(listAt(object, 'status', 'inventory', 'entries'), /\.toolkit\.fluxcd\.io$/);
  if (own.length > 0 && others === 0) {
    leave('', `it applies objects of Flux and nothing else (${own.join(', ')}): they are imported themselves`);
    return undefined;
  }
  if (own.length > 0) leave('spec.path', `the folder holds objects of Flux (${own.join(', ')}): take them out of it`);
  const found = folderSource(spec, textAt(spec, 'path') ?? '.', namespace, world, leave);
  if ('why' in found) {
    leave('spec.sourceRef', found.why);
    return undefined;
  }
  leaveFields(spec, FIELDS, 'spec', leave);
  if (isOn(spec, 'suspend')) leave('spec.suspend', SUSPENDED);
  const path = textAt(found.source, 'git', 'path') ?? '.';
  const folder = folderKind(world, found.url, path);
  if (folder === 'unknown')
    leave(
      'spec.path',
      'nobody looked whether the folder has a kustomization: where it has none, set kind: manifests (or import with --checkout)',
    );
  const transformations = transformationsOf(spec);
  const changed = Object.keys(transformations).length > 0;
  const place = `kustomizations/${namespace}/${name}`;
  const overlay = changed && found.own && folder === 'kustomize' ? overlayOf(transformations, path, 3) : undefined;
  const rest =
    !changed || overlay !== undefined
      ? { patches: [] }
      : withoutOverlay(spec, transformations, 'spec', world.parseYaml, leave);
  if (rest.namespace !== undefined)
    leave('spec.targetNamespace', 'objects that name a namespace of their own keep it; only the others go there');
  const policy = textAt(spec, 'deletionPolicy') ?? 'MirrorPrune';
  const keeps = policy === 'Orphan' || (policy === 'MirrorPrune' && !isOn(spec, 'prune'));
  if (!isOn(spec, 'prune'))
    leave(
      'spec.prune',
      'objects that leave the folder are removed; deletion.policy keeps them only when the Plugin goes',
    );
  const known = world.plugins.get(fluxKey('Kustomization', namespace, name));
  const plugin = draftPlugin(namespace, known?.name ?? name, {
    ...present({
      suspend: isOn(spec, 'suspend') ? true : undefined,
      kind: folder === 'manifests' ? 'manifests' : 'kustomize',
      source: overlay === undefined ? found.source : { git: { path: place } },
      poll: found.own ? undefined : found.poll,
      namespace: rest.namespace === undefined ? undefined : { name: rest.namespace },
      patches: rest.patches,
      dependsOn: fluxDependencies('Kustomization', spec, namespace, world, leave),
      health: fluxHealth(spec, leave),
      deletion: keeps ? { policy: 'orphan' } : undefined,
      timeout: textAt(spec, 'timeout'),
      serviceAccountName: textAt(spec, 'serviceAccountName'),
    }),
  });
  return overlay === undefined
    ? { plugin }
    : { plugin, overlay: { path: `${place}/kustomization.yaml`, content: overlay } };
}
