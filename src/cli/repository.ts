import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sync } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { credentialsFromSecret } from '../git/credentials.ts';
import { type GitRepository, openRepository } from '../git/repository.ts';
import { secretData } from '../reconcile/secret-data.ts';
import { pickVersion } from '../resolve/pick-version.ts';

/**
 * Opens a repository for one command, in a folder that goes with it. The Sync's credentials are used for the Sync's own
 * URL and for no other: a URL on the command line must not be able to collect them.
 */
export async function withRepository<T>(
  client: KubeClient | undefined,
  sync: Sync,
  url: string,
  use: (repository: GitRepository) => Promise<T>,
): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'espalier-plan-'));
  const { secretRef } = sync.spec.repository;
  const secret =
    client !== undefined && url === sync.spec.repository.url && secretRef !== undefined
      ? await client.get({
          apiVersion: 'v1',
          kind: 'Secret',
          namespace: sync.metadata.namespace ?? '',
          name: secretRef.name,
        })
      : undefined;
  const repository = await openRepository({
    url,
    dir,
    // A person asked for this very address.
    allow: { http: true, privateAddresses: true },
    ...(secret === undefined ? {} : { credentials: credentialsFromSecret(secretData(secret), url) }),
    pickTag: (tags, range) => {
      const picked = pickVersion(tags, range);
      return picked.ok ? picked.version : undefined;
    },
  });
  try {
    return await use(repository);
  } finally {
    await repository.close();
    await rm(dir, { recursive: true, force: true });
  }
}
