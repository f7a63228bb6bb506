import { EspalierError } from '../api/index.ts';
import { createClient, type KubeClient } from '../cluster/client.ts';
import type { Whose } from './newest.ts';

export interface OperatorOptions {
  /** Default: as kubectl would connect, and in a pod with its service account. */
  client?: KubeClient;
  /** Name of the Plugin that the expansion is. Default: ESPALIER_EXPANSION. */
  expansion?: string;
  /** Of the package that this operator is part of: it answers for no other. Default: ESPALIER_EXPANSION_VERSION, then the newest. */
  version?: string;
  /** Default: ESPALIER_NAMESPACE, and then the namespace of the pod or of the kubeconfig. */
  namespace?: string;
}

/** Everything that is given, in the pod or by hand. */
export function connect(options: OperatorOptions) {
  const { env } = process;
  const expansion = options.expansion ?? env.ESPALIER_EXPANSION ?? '';
  const version = options.version ?? env.ESPALIER_EXPANSION_VERSION;
  const client = options.client ?? createClient({ userAgent: `espalier-operator/${expansion}` });
  const namespace = options.namespace ?? env.ESPALIER_NAMESPACE ?? client.namespace ?? '';
  const missing = expansion === '' ? 'ESPALIER_EXPANSION' : namespace === '' ? 'ESPALIER_NAMESPACE' : undefined;
  if (missing !== undefined)
    throw new EspalierError(
      'InvalidConfiguration',
      `${missing} is not set: the agent sets it in the operator's Deployment; elsewhere give it by hand`,
    );
  const close = async (): Promise<void> => (options.client === undefined ? await client.close() : undefined);
  const whose: Whose = version === undefined ? { expansion } : { expansion, version };
  return { client, whose, namespace, close };
}

/** Aborted by SIGTERM or SIGINT; a second one ends the process at once. */
export function untilSignal(log: (line: string) => void): { signal: AbortSignal; forget(): void } {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(130);
    log(`${name}: no new work begins`);
    controller.abort();
  };
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, onSignal);
  return {
    signal: controller.signal,
    forget() {
      for (const name of ['SIGTERM', 'SIGINT'] as const) process.off(name, onSignal);
    },
  };
}
