import { API_VERSION, type Extension, type PluginDeclaration, readAs, type Sync } from '../api/index.ts';
import { LABEL } from '../api/names.ts';
import { changedTree } from '../git/changedtree.ts';
import { type FileTree, NO_FILES } from '../git/tree.ts';
import type { Plan } from '../plan/whole.ts';
import type { Cluster } from './cluster.ts';
import { planTree } from './plan-source.ts';
import { withRepository } from './repository.ts';
import { standIn } from './sync-settings.ts';

/** No repository has it: what a commit declares must not be read along. */
const FOLDER = 'espalier-plan-of-one';

/**
 * What a Plugin would do that the agent makes of an instance in the cluster: with the values, images and account of the Sync
 * that its extension comes from, and with the files of that Sync's repository where it is made of some.
 */
export async function planObject(
  { client }: Cluster,
  plugin: PluginDeclaration,
  extension: Extension | undefined,
): Promise<Plan> {
  const { metadata, ...rest } = plugin;
  const { name, namespace = '' } = metadata;
  const labels = extension?.metadata.labels ?? {};
  const [ownerName, ownerNamespace] = [labels[LABEL.sync], labels[LABEL.syncNamespace]];
  const found =
    ownerName === undefined || ownerNamespace === undefined
      ? undefined
      : await client.get({ apiVersion: API_VERSION, kind: 'Sync', namespace: ownerNamespace, name: ownerName });
  const owner = found === undefined ? undefined : readAs(found, 'Sync');
  const path = `${FOLDER}/plugin.json`;
  const content = JSON.stringify({ ...rest, spec: unpinned(rest.spec), metadata: { name, namespace } });
  const plan = async (files: FileTree): Promise<Plan> => {
    const { tree } = await changedTree(files, [{ path, content }]);
    const sync = settingsOf(owner, namespace);
    return await planTree({ client, namespace, sync, tree, history: 'first', names: [name], trusted: true });
  };
  const { git } = plugin.spec.source;
  if (owner === undefined || git === undefined || git.url !== undefined) return await plan(NO_FILES);
  const { url, ref = {} } = owner.spec.repository;
  return await withRepository(client, owner, url, async (repository) => {
    const commit = owner.status?.commit ?? (await repository.resolve(ref)).commit;
    await repository.fetch(commit);
    return await plan(repository.tree(commit));
  });
}

/** A declaration names a folder; which content that is says the commit. */
export function unpinned(spec: PluginDeclaration['spec']): PluginDeclaration['spec'] {
  const { git } = spec.source;
  if (git === undefined) return spec;
  const { tree: _, commit: __, ...named } = git;
  return { ...spec, source: { git: named } };
}

/** As the owner has them; nothing that it wrote is about this Plugin. */
function settingsOf(owner: Sync | undefined, namespace: string): Sync {
  const plain = standIn(namespace);
  if (owner === undefined)
    return { ...plain, spec: { ...plain.spec, repository: { ...plain.spec.repository, path: FOLDER } } };
  const repository = { ...owner.spec.repository, path: FOLDER };
  return { ...plain, spec: { ...owner.spec, repository, suspend: false } };
}
