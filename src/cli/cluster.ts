import { EspalierError, isError } from '../api/errors.ts';
import { GROUP } from '../api/names.ts';
import { groupOf } from '../api/objects.ts';
import type { KubeClient } from '../cluster/client.ts';
import type { ClusterOptions } from './options.ts';
import { say } from './print.ts';

/** Field manager of what a person changes through the command line. */
export const CLI_MANAGER = 'espalier-cli';

export interface Cluster {
  client: KubeClient;
  /** Where names are looked up: `--namespace`, else that of the context. */
  namespace: string;
}

/** One try of a request: a person waits for the answer. */
const DEADLINE_MS = 15_000;

/** Does some work with the cluster that the options name, and closes the connection. Failures come with a next step. */
export async function inCluster<T>(
  options: ClusterOptions & { namespace?: string },
  work: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  const { createClient } = await import('../cluster/client.ts');
  const client = createClient({
    kubeconfig: options.kubeconfig === undefined ? {} : { path: options.kubeconfig },
    ...(options.context === undefined ? {} : { context: options.context }),
    // A person's own kubeconfig may start the login program of their cloud.
    allowExec: true,
    deadlineMs: DEADLINE_MS,
    onWarning: (text) => say(`Warning: ${text}`),
  });
  try {
    return await work({ client, namespace: options.namespace ?? client.namespace ?? 'default' });
  } catch (error) {
    throw withNextStep(error, client.server);
  } finally {
    await client.close();
  }
}

/** The same failure, with what a person can do about it where we know. */
export function withNextStep(error: unknown, server: string): unknown {
  if (isError(error, 'KubeKindUnknown') && groupOf(String(error.data.apiVersion)) === GROUP) {
    return new EspalierError(
      'KubeKindUnknown',
      `Espalier is not installed in the cluster at ${server}: it does not know the kind ${error.data.kind}. ` +
        'Install it with "kubectl apply --server-side -k manifests" in a checkout (docs/install.md), or choose another cluster with --context',
      { cause: error, data: error.data, retry: false },
    );
  }
  if (isError(error, 'KubeUnreachable')) {
    const message = `${error.message}. Is it running, and is this the right cluster? Choose with --kubeconfig and --context`;
    return new EspalierError(error.code, message, { cause: error, data: error.data });
  }
  return error;
}

/** Whether waiting can't mend it: rights, credentials, a kind that is not installed. */
export function isHopeless(error: EspalierError): boolean {
  return isError(error, 'KubeForbidden', 'KubeUnauthorized', 'KubeKindUnknown', 'KubeInvalid');
}
