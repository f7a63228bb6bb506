import { join } from 'node:path';
import { EspalierError, type Plugin } from '../../api/index.ts';
import type { KubeClient } from '../../cluster/client.ts';
import { type Credentials, credentialsFromSecret } from '../../git/credentials.ts';
import { type GitRepository, openRepository } from '../../git/repository.ts';
import { pickVersion } from '../../resolve/pick-version.ts';
import { openScratchFolder, type ScratchFolder } from '../../tools/scratch-folder.ts';
import type { OwnSource } from '../render-revision.ts';
import { secretData } from '../secret-data.ts';

export type FindOwnSource = (plugin: Plugin, live: Plugin | undefined) => Promise<OwnSource>;

/** For what goes nowhere: Plugins with a repository of their own are told to be left out. */
export const refuseOwnSource =
  (why: string): FindOwnSource =>
  async (plugin) => {
    const message = `its files are in ${plugin.spec.source.git?.url}, ${why}`;
    throw new EspalierError('SourceMissing', message, { retry: false });
  };

/**
 * Opens the repositories that Plugins name, in a folder that goes when it is done. What a repository declares is hostile
 * until proven: private addresses and Secrets are for URLs alone that the Plugin in the cluster has already. `trusted`: all of
 * them come from the cluster itself.
 */
export async function withOwnSources<T>(
  client: KubeClient,
  use: (find: FindOwnSource) => Promise<T>,
  { trusted = false }: { trusted?: boolean } = {},
): Promise<T> {
  let folder: ScratchFolder | undefined;
  const open: GitRepository[] = [];
  const find: FindOwnSource = async (plugin, live) => {
    const { git } = plugin.spec.source;
    if (git?.url === undefined) throw new EspalierError('Internal', 'a Plugin without a repository of its own');
    const isKnown = live?.spec.source.git?.url === git.url;
    const credentials = isKnown ? await credentialsOf(client, live) : undefined;
    folder ??= openScratchFolder('espalier-sources-');
    const repository = await openRepository({
      url: git.url,
      dir: join(folder.path, String(open.length)),
      allow: { http: isKnown || trusted, privateAddresses: isKnown || trusted },
      ...(credentials === undefined ? {} : { credentials }),
      pickTag: (tags, range) => {
        const picked = pickVersion(tags, range);
        return picked.ok ? picked.version : undefined;
      },
    });
    open.push(repository);
    const { commit, ref } = await repository.resolve(git.ref ?? {});
    await repository.fetch(commit, ref);
    const tree = repository.tree(commit);
    const id = await tree.id(git.path);
    if (id !== undefined) return { tree, id, commit };
    const message = `source.git.path "${git.path}" does not exist at ${commit.slice(0, 10)} of ${repository.url}`;
    throw new EspalierError('SourceMissing', message, { retry: false });
  };
  try {
    return await use(find);
  } finally {
    await Promise.all(open.map((repository) => repository.close()));
    await folder?.remove();
  }
}

async function credentialsOf(client: KubeClient, { metadata, spec }: Plugin): Promise<Credentials | undefined> {
  const { url = '', secretRef } = spec.source.git ?? {};
  if (secretRef === undefined) return undefined;
  const ref = { apiVersion: 'v1', kind: 'Secret', namespace: metadata.namespace ?? '', name: secretRef.name };
  const secret = await client.get(ref);
  return secret === undefined ? undefined : credentialsFromSecret(secretData(secret), url);
}
