import { customResourceDefinition, EspalierError, GROUP, isError, type KubeObject } from '../../api/index.ts';
import type { KubeClient } from '../../cluster/client.ts';
import { KUBEGEMS_PLUGIN } from '../../compat/kubegems-kind.ts';

/** Counts up with every change of what is served, so that an older agent leaves a newer one's definition alone. */
export const EDITION = 2;
const EDITION_ANNOTATION = `${GROUP}/edition`;
const VERSION = 'v1beta1';

interface Definition extends KubeObject {
  spec: { versions?: { name: string; served: boolean }[] };
  status?: { conditions?: { type: string; status: string }[] };
}

/**
 * Sees to it that the kind is served, and says whether it is by now. A definition that somebody else brought stays as it
 * is, whatever it lacks, and so does one of a newer agent.
 */
export async function serveKubegems(client: Pick<KubeClient, 'get' | 'create' | 'update'>): Promise<boolean> {
  const wanted = customResourceDefinition(KUBEGEMS_PLUGIN);
  const { apiVersion, kind, metadata } = wanted;
  const annotations = { [EDITION_ANNOTATION]: String(EDITION) };
  const object = { ...wanted, metadata: { ...metadata, annotations } } as unknown as KubeObject;
  const live = (await client.get({ apiVersion, kind, name: metadata.name })) as Definition | undefined;
  if (live === undefined) {
    await client.create(object).catch((error: unknown) => {
      if (!isError(error, 'KubeConflict', 'KubeAlreadyExists')) throw error;
    });
    return false;
  }
  const edition = live.metadata.annotations?.[EDITION_ANNOTATION];
  if (edition !== undefined && Number(edition) < EDITION) {
    await client.update({
      ...live,
      spec: object.spec,
      metadata: { ...live.metadata, annotations: { ...live.metadata.annotations, ...annotations } },
    });
  } else if (!(live.spec.versions ?? []).some(({ name, served }) => name === VERSION && served)) {
    const message = `CustomResourceDefinition ${metadata.name} is somebody else's and does not serve ${VERSION}: KubeGems objects can't be read. Bring it up to date or delete it.`;
    throw new EspalierError('KubeKindUnknown', message, { retry: true });
  }
  return (live.status?.conditions ?? []).some(({ type, status }) => type === 'Established' && status === 'True');
}
