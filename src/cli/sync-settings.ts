import { API_VERSION, EspalierError, readAs, type Sync } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';

/** The Sync whose values, labels, account and path apply: the one that is named, that follows this URL, or the only one. */
export async function findSync(
  client: KubeClient,
  namespace: string,
  name: string | undefined,
  source: string,
): Promise<Sync | undefined> {
  const { items } = await client.list({ apiVersion: API_VERSION, kind: 'Sync', namespace });
  const syncs = items.map((item) => readAs(item, 'Sync'));
  const listed = syncs.map((sync) => sync.metadata.name).join(', ');
  if (name !== undefined) {
    const sync = syncs.find((one) => one.metadata.name === name);
    if (sync === undefined)
      throw new EspalierError(
        'KubeNotFound',
        `no Sync "${name}" in namespace ${namespace}${listed === '' ? '' : `; there are: ${listed}`}`,
        { retry: false },
      );
    return sync;
  }
  const [following, ...others] = syncs.filter((sync) => sync.spec.repository.url === source);
  if (following !== undefined && others.length === 0) return following;
  if (syncs.length > 1)
    throw new EspalierError(
      'InvalidConfiguration',
      `namespace ${namespace} has several Syncs: choose one with --sync (${listed})`,
      { retry: false },
    );
  return syncs[0];
}

/** Settings for a repository that no Sync follows yet. */
export function standIn(namespace: string): Sync {
  return readAs(
    {
      apiVersion: API_VERSION,
      kind: 'Sync',
      metadata: { name: 'plan', namespace },
      spec: { repository: { url: 'https://example.com/none.git' } },
    },
    'Sync',
  );
}
