import { EspalierError, isError } from '../api/errors.ts';
import { API_VERSION } from '../api/names.ts';
import type { KubeObject } from '../api/objects.ts';
import type { KubeClient } from '../cluster/client.ts';
import type { Cluster } from './cluster.ts';
import { asOurs, type Ours } from './standing.ts';
import { shown, type Target, type TargetKind } from './target.ts';

const NAMES_LISTED = 10;

/**
 * The one object that a person named. A bare name is that of a Sync or a Plugin; where both exist, `prefer` decides,
 * and without it the person must.
 */
export async function findTarget(cluster: Cluster, target: Target, prefer?: TargetKind): Promise<Ours> {
  const found = await findTargets(cluster, target);
  const [only] = found;
  if (only === undefined) throw await notFound(cluster, target);
  if (found.length === 1) return only;
  const preferred = found.find(({ kind }) => kind === prefer);
  if (preferred !== undefined) return preferred;
  const message = `"${target.name}" is a Sync and a Plugin in namespace "${cluster.namespace}": say sync/${target.name} or plugin/${target.name}`;
  throw new EspalierError('InvalidConfiguration', message, { retry: false });
}

/** Everything that a target names: at most one of each kind. */
export async function findTargets({ client, namespace }: Cluster, { kind, name }: Target): Promise<Ours[]> {
  const kinds: TargetKind[] = kind === undefined ? ['Sync', 'Plugin'] : [kind];
  const answers = await Promise.all(
    kinds.map((one) => client.get({ apiVersion: API_VERSION, kind: one, namespace, name })),
  );
  return answers.flatMap((object) => (object === undefined ? [] : [asOurs(object)]));
}

/** Says what there is instead: most often it is the namespace, or a slip in the name. */
export async function notFound({ client, namespace }: Cluster, target: Target): Promise<EspalierError> {
  const kinds: TargetKind[] = target.kind === undefined ? ['Sync', 'Plugin'] : [target.kind];
  const what = `no ${kinds.join(' or ')} "${target.name}" in namespace "${namespace}"`;
  const all = await whatThereIs(client, kinds, namespace);
  const elsewhere = all
    .filter(({ metadata }) => metadata.name === target.name)
    .map(({ metadata }) => metadata.namespace ?? '');
  const here = all
    .filter(({ metadata }) => metadata.namespace === namespace)
    .map(({ kind, metadata: { name } }) => (target.kind === undefined ? shown({ kind, name }) : name));
  return new EspalierError('KubeNotFound', `${what}; ${advice([...new Set(elsewhere)], here, all)}`, {
    data: { ...target, namespace },
  });
}

function advice(elsewhere: string[], here: string[], all: readonly KubeObject[]): string {
  const [first] = elsewhere;
  if (first !== undefined) return `there is one in ${listed(elsewhere)}: add -n ${first}`;
  if (here.length > 0) return `there are: ${listed(here)}`;
  if (all.length > 0) return `there are none in it; all there are: ${listed(all.map(inItsNamespace))}`;
  return 'there are none anywhere';
}

/** Of all namespaces, or of one where a person may not look further. */
export async function whatThereIs(
  client: KubeClient,
  kinds: readonly TargetKind[],
  namespace: string,
  labelSelector?: string,
): Promise<KubeObject[]> {
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const target = {
        apiVersion: API_VERSION,
        kind,
        metadataOnly: true,
        ...(labelSelector === undefined ? {} : { labelSelector }),
      };
      try {
        return await client.list(target);
      } catch (error) {
        if (!isError(error, 'KubeForbidden')) throw error;
        return await client.list({ ...target, namespace });
      }
    }),
  );
  return lists.flatMap(({ items }) => items);
}

export function listed(names: readonly string[]): string {
  const more = names.length > NAMES_LISTED ? ` and ${names.length - NAMES_LISTED} more` : '';
  return `${names.slice(0, NAMES_LISTED).join(', ')}${more}`;
}

function inItsNamespace({ kind, metadata: { namespace = '', name } }: KubeObject): string {
  return `${shown({ kind, name })} in ${namespace}`;
}
