import { gunzipSync, gzipSync } from 'node:zlib';
import type { KubeObject } from '../../../src/api/index.ts';
import type { KubeClient } from '../../../src/cluster/client.ts';
import { dataOf } from './scene.ts';

/** A revision as `helm upgrade` leaves it while it waits: the last one's record, of the next number and pending. */
export async function openRevision(
  client: KubeClient,
  namespace: string,
  name: string,
  revision: number,
): Promise<KubeObject> {
  const secret = { apiVersion: 'v1', kind: 'Secret', namespace };
  const last = await client.get({ ...secret, name: `sh.helm.release.v1.${name}.v${revision - 1}` });
  const { release } = dataOf(last);
  const record = JSON.parse(
    gunzipSync(Buffer.from(Buffer.from(release ?? '', 'base64').toString(), 'base64')).toString(),
  );
  record.version = revision;
  record.info.status = 'pending-upgrade';
  const text = gzipSync(JSON.stringify(record)).toString('base64');
  return await client.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: `sh.helm.release.v1.${name}.v${revision}`,
      namespace,
      // Helm copies what labels the last revision has.
      labels: { ...last?.metadata.labels, version: String(revision), status: 'pending-upgrade' },
    },
    type: 'helm.sh/release.v1',
    data: { release: Buffer.from(text).toString('base64') },
  } as KubeObject);
}
