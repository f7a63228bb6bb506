import type { KubeObject } from '../../api/index.ts';
import { fromHelmRelease, releaseNameOf } from './helm-release.ts';
import { Import, type Imported, titleOf } from './imported.ts';
import { fromKustomization } from './kustomization.ts';
import { fluxKey, type World } from './world.ts';

/** Everything of Flux that a cluster holds. */
export interface FluxObjects {
  releases: readonly KubeObject[];
  kustomizations: readonly KubeObject[];
  sources: readonly KubeObject[];
}

export function fromFlux({ releases, kustomizations, sources }: FluxObjects, world: World): Imported {
  const result = new Import();
  const full = {
    ...world,
    sources: new Map(sources.map((one) => [keyOf(one), one])),
    plugins: namesOf(releases, kustomizations),
  };
  for (const object of releases) {
    const plugin = fromHelmRelease(object, full, result.leaver(titleOf(object)));
    if (plugin !== undefined) result.add(titleOf(object), plugin);
  }
  for (const object of kustomizations) {
    const found = fromKustomization(object, full, result.leaver(titleOf(object)));
    if (found === undefined || !result.add(titleOf(object), found.plugin)) continue;
    if (found.overlay !== undefined) result.files.set(found.overlay.path, world.printYaml(found.overlay.content));
  }
  return result;
}

/** A Plugin of kind helm must have the name of its release; a Kustomization of the same name makes way. */
function namesOf(
  releases: readonly KubeObject[],
  kustomizations: readonly KubeObject[],
): Map<string, { namespace: string; name: string }> {
  const names = new Map<string, { namespace: string; name: string }>();
  const taken = new Set<string>();
  for (const one of releases) {
    const { namespace = '' } = one.metadata;
    const name = releaseNameOf(one);
    names.set(keyOf(one), { namespace, name });
    taken.add(`${namespace}/${name}`);
  }
  for (const one of kustomizations) {
    const { namespace = '', name } = one.metadata;
    const free = taken.has(`${namespace}/${name}`) ? `${name}-manifests` : name;
    names.set(keyOf(one), { namespace, name: free });
  }
  return names;
}

function keyOf({ kind, metadata: { namespace = '', name } }: KubeObject): string {
  return fluxKey(kind, namespace, name);
}
