import { fromFlux } from '../compat/import/flux.ts';
import type { Imported } from '../compat/import/imported.ts';
import type { World } from '../compat/import/world.ts';
import type { Cluster } from './cluster.ts';
import type { ImportFlags } from './import.ts';
import { readAll, readKinds } from './import-read.ts';

const KINDS = [
  { group: 'helm.toolkit.fluxcd.io', kind: 'HelmRelease' },
  { group: 'kustomize.toolkit.fluxcd.io', kind: 'Kustomization' },
];
const SOURCES = ['GitRepository', 'OCIRepository', 'HelmRepository', 'HelmChart', 'Bucket'];

export async function importFlux(cluster: Cluster, flags: ImportFlags, world: World): Promise<Imported> {
  const [releases = [], kustomizations = []] = await readKinds(cluster, flags, KINDS, 'Flux');
  const sources = await Promise.all(SOURCES.map((kind) => readAll(cluster, 'source.toolkit.fluxcd.io', kind)));
  return fromFlux({ releases, kustomizations, sources: sources.flat() }, world);
}
