import { answerFailure } from './failure.ts';
import type { CallOptions, KubeClient } from './kubeclient.ts';

export interface PodLogRequest extends CallOptions {
  namespace: string;
  pod: string;
  container: string;
  /** Of the run before the present one. */
  previous: boolean;
  tailLines: number;
  /** Counted from the first of those lines: what is cut off is the end. */
  limitBytes: number;
}

/** The last lines that a container wrote. The API server asks the node for them, which may be out of reach. */
export async function readPodLog(client: Pick<KubeClient, 'raw'>, request: PodLogRequest): Promise<string> {
  const { namespace, pod, container, previous, tailLines, limitBytes, ...options } = request;
  const answer = await client.raw({
    ...options,
    method: 'GET',
    path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/log`,
    query: {
      container,
      tailLines: `${tailLines}`,
      limitBytes: `${limitBytes}`,
      ...(previous ? { previous: 'true' } : {}),
    },
  });
  if (answer.status >= 400) throw answerFailure('get', { kind: 'log of Pod', namespace, name: pod }, answer);
  return answer.body;
}
