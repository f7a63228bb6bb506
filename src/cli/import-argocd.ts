import { fromArgo } from '../compat/import/argo.ts';
import type { Imported } from '../compat/import/imported.ts';
import type { World } from '../compat/import/world.ts';
import type { Cluster } from './cluster.ts';
import type { ImportFlags } from './import.ts';
import { readKinds } from './import-read.ts';

const KINDS = ['Application', 'ApplicationSet', 'AppProject'].map((kind) => ({ group: 'argoproj.io', kind }));

export async function importArgo(cluster: Cluster, flags: ImportFlags, world: World): Promise<Imported> {
  const [applications = [], ...beside] = await readKinds(cluster, flags, KINDS, 'Argo CD');
  return fromArgo({ applications, beside: beside.flat() }, world);
}
