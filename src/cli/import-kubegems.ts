import type { Imported } from '../compat/import/imported.ts';
import { fromKubegems } from '../compat/import/kubegems.ts';
import { KUBEGEMS_GROUP } from '../compat/kubegems-kind.ts';
import type { Cluster } from './cluster.ts';
import type { ImportFlags } from './import.ts';
import { readKinds } from './import-read.ts';

export async function importKubegems(cluster: Cluster, flags: ImportFlags): Promise<Imported> {
  const [plugins = []] = await readKinds(cluster, flags, [{ group: KUBEGEMS_GROUP, kind: 'Plugin' }], 'KubeGems');
  return fromKubegems(plugins);
}
