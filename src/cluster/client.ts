import { bindClient } from './bind.ts';
import { createCredentials } from './credentials.ts';
import { createDiscovery } from './discovery.ts';
import type { KubeClient, RequestReport } from './kubeclient.ts';
import { type ClusterConfig, type KubeconfigSource, loadKubeconfig } from './kubeconfig.ts';
import { createLimiter, type Limits } from './limiter.ts';
import { createRequester } from './requester.ts';
import { type Clock, wallClock } from './timing.ts';
import { createTransport } from './transport.ts';

export type * from './kubeclient.ts';
export type { ClusterConfig } from './kubeconfig.ts';

export interface ClientOptions {
  /** A path, a source, or a resolved context; by default as kubectl would look, then the pod's service account. */
  kubeconfig?: string | KubeconfigSource | ClusterConfig;
  context?: string;
  /** Whether the kubeconfig may start login programs. The agent says no; a person's command line may say yes. */
  allowExec?: boolean;
  limits?: Partial<Limits>;
  /** One attempt of a request. The API server itself gives up on writes after 34 s, and says so. */
  deadlineMs?: number;
  /** How often a shared watch connection is pinged; two missing answers close it. */
  pingMs?: number;
  userAgent?: string;
  clock?: Clock;
  random?: () => number;
  onRequest?: (report: RequestReport) => void;
  onWarning?: (text: string) => void;
  /** See `KubeClient.guarded`. */
  guard?: () => void;
}

const IN_FLIGHT = 64;
const DEADLINE_MS = 40_000;
const PING_MS = 10_000;

/** Builds a client. Nothing is sent before the first call. */
export function createClient(options: ClientOptions = {}): KubeClient {
  const config = resolveConfig(options);
  const clock = options.clock ?? wallClock;
  const limits = { inFlight: IN_FLIGHT, ...options.limits };
  const credentials = createCredentials(config, { allowExec: options.allowExec ?? false });
  const transport = createTransport(config, credentials, {
    connections: limits.inFlight,
    pingMs: options.pingMs ?? PING_MS,
  });
  const random = options.random ?? Math.random;
  const requester = createRequester({
    transport,
    credentials,
    limiter: createLimiter(limits),
    server: config.server,
    userAgent: options.userAgent ?? 'espalier',
    deadlineMs: options.deadlineMs ?? DEADLINE_MS,
    clock,
    random,
    ...(config.user.impersonate === undefined ? {} : { user: config.user.impersonate }),
    ...(options.onRequest === undefined ? {} : { onRequest: options.onRequest }),
    ...(options.onWarning === undefined ? {} : { onWarning: options.onWarning }),
  });
  const discovery = createDiscovery((path, headers) => {
    const accept = (status: number) => status === 304 || status === 404;
    return requester.send(
      { verb: 'discover', subject: { path }, method: 'GET', path, headers, repeat: 'repeatable', accept },
      {},
    );
  }, clock);
  return bindClient(
    {
      requester,
      discovery,
      random,
      server: config.server,
      namespace: config.namespace,
      close: () => transport.close(),
    },
    options.guard === undefined ? {} : { guard: options.guard },
  );
}

function resolveConfig(options: ClientOptions): ClusterConfig {
  const { kubeconfig, context } = options;
  if (kubeconfig !== undefined && typeof kubeconfig === 'object' && 'server' in kubeconfig) return kubeconfig;
  const source = typeof kubeconfig === 'string' ? { path: kubeconfig } : (kubeconfig ?? {});
  return loadKubeconfig(context === undefined ? source : { ...source, context });
}
