import type { Sync } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import type { GitLimits } from '../git/limits.ts';
import { type GitRepository, openRepository } from '../git/repository.ts';
import type { UrlPolicy } from '../git/url.ts';
import { type FoundObject, repositoryOptionsOf, repositoryRefs } from '../reconcile/repository-options.ts';
import { withScratchFolder } from '../tools/scratch-folder.ts';

/** A person asked for this very address, by naming it or the Sync that does. */
export const ASKED_FOR: UrlPolicy = { http: true, privateAddresses: true };

/**
 * Opens a repository for one command, in a folder that goes with it. What the Sync says of credentials, proxy and
 * certificates is for the Sync's own URL and for no other: a URL on the command line must not be able to collect them.
 */
export async function withRepository<T>(
  client: KubeClient | undefined,
  sync: Sync,
  url: string,
  use: (repository: GitRepository) => Promise<T>,
  more: { limits?: GitLimits; signal?: AbortSignal | undefined } = {},
): Promise<T> {
  const { repository: own } = sync.spec;
  const isOwn = client !== undefined && url === own.url;
  const options = isOwn ? repositoryOptionsOf(own, await objectsFor(client, sync)) : repositoryOptionsOf({ url }, []);
  return await withScratchFolder('espalier-plan-', async (dir) => {
    const repository = await openRepository({ ...options, ...more, dir, allow: ASKED_FOR });
    try {
      return await use(repository);
    } finally {
      await repository.close();
    }
  });
}

async function objectsFor(client: KubeClient, { metadata, spec }: Sync): Promise<FoundObject[]> {
  const refs = repositoryRefs(metadata.namespace ?? '', spec.repository);
  const objects = await Promise.all(refs.map((ref) => client.get(ref)));
  return refs.flatMap((ref, at): FoundObject[] => {
    const object = objects[at];
    return object === undefined ? [] : [[ref, object]];
  });
}
