import type { Json, KubeObject } from '../../api/index.ts';

/** What is known around the objects that are translated. */
export interface World {
  /** URL of the repository that the Sync will follow: sources that are this one become plain paths. */
  sameRepository?: string;
  /** The documents of a YAML text; throws on what is none. */
  parseYaml(text: string): Json[];
  printYaml(value: Json): string;
  /** Files of a repository by their path, where a checkout is at hand. Undefined: nobody knows. */
  checkout(url: string): Checkout | undefined;
}

export interface Checkout {
  /** Names in a folder; undefined when there is no such folder. */
  names(path: string): readonly string[] | undefined;
  read(path: string): string | undefined;
}

export interface FluxWorld extends World {
  /** Sources by `Kind namespace/name`. */
  sources: ReadonlyMap<string, KubeObject>;
  /** The Plugin that another object of Flux becomes, by the same key. */
  plugins: ReadonlyMap<string, { namespace: string; name: string }>;
}

export function fluxKey(kind: string, namespace: string, name: string): string {
  return `${kind} ${namespace}/${name}`;
}

/** Kinds of kustomizations; without one a folder is plain manifests. */
const KUSTOMIZATIONS = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'];

/** What a folder is. `unknown` without a checkout. */
export function folderKind(world: World, url: string, path: string): 'kustomize' | 'manifests' | 'unknown' {
  const names = world.checkout(url)?.names(path);
  if (names === undefined) return 'unknown';
  return KUSTOMIZATIONS.some((name) => names.includes(name)) ? 'kustomize' : 'manifests';
}
