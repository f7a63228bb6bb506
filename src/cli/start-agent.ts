import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { EspalierError, messageOf } from '../api/index.ts';
import { createCharts } from '../charts/charts.ts';
import { type ClusterConfig, createClient, type KubeClient } from '../cluster/client.ts';
import { runForLeader } from '../cluster/lease.ts';
import type { UrlPolicy } from '../git/url.ts';
import { gaugesOf } from '../reconcile/gauges.ts';
import { receiveHook } from '../reconcile/hooks.ts';
import { agentIdentity } from '../reconcile/identity.ts';
import { planPage, syncPage } from '../reconcile/pages.ts';
import { runTerm, type Term } from '../reconcile/term.ts';
import { systemClock } from '../runtime/clock.ts';
import { createMetrics } from '../web/metrics.ts';
import { startWeb } from '../web/server.ts';

export interface AgentOptions {
  kubeconfig?: string | ClusterConfig;
  context?: string;
  /** Where the agent itself lives: its Lease, and what it never removes. */
  namespace: string;
  /** Look after Syncs and Plugins of this namespace alone; of all when undefined. */
  onlyNamespace: string | undefined;
  cacheDir: string;
  http: { host: string; port: number } | undefined;
  urlPolicy: UrlPolicy;
  /** Where charts in Git may take their dependencies from; anywhere that is not inside when left out. */
  dependenciesFrom?: readonly string[];
  /** Under which address people reach this agent: links in commit statuses lead there. `own`: where it listens. */
  pageUrl: string | 'own' | undefined;
  concurrency: number;
  renderers: number;
  fullLookEveryMs: number;
  graceMs: number;
  log: Logger;
  signal: AbortSignal;
}

export interface Agent {
  url: string | undefined;
  /** Resolves when this replica leads and its caches are filled. */
  leading: Promise<void>;
  /** Looks at Git now, for every Sync or for one. */
  lookNow(sync?: string): void;
  /** Resolves when everything has ended; rejects when the agent broke. */
  ended: Promise<void>;
}

/** Builds the real parts and runs them: HTTP at once, the controllers for as long as this replica leads. */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const { log, signal } = options;
  const identity = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
  const dir = join(options.cacheDir, 'git');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  let term: Term | undefined;
  const exported = createMetrics(gaugesOf(() => term));
  const client: KubeClient = createClient({
    ...(options.kubeconfig === undefined ? {} : { kubeconfig: options.kubeconfig }),
    ...(options.context === undefined ? {} : { context: options.context }),
    onRequest: (report) => exported.metrics.requested(report.verb, report.kind, report.status, report.ms / 1000),
  });
  const { urlPolicy: addresses, dependenciesFrom: allow } = options;
  const dependencies = allow === undefined ? {} : { dependencies: { allow } };
  const charts = createCharts({ cacheDir: join(options.cacheDir, 'charts'), addresses, ...dependencies });
  const started = Promise.withResolvers<void>();
  // Nobody has to wait for it.
  started.promise.catch(() => undefined);

  const web =
    options.http === undefined
      ? undefined
      : await startWeb({
          ...options.http,
          healthy: () => true,
          ready: () =>
            term === undefined ? { ready: true, why: '' } : { ready: term.isReady, why: 'caches are being filled' },
          metrics: async () => ({ contentType: exported.contentType, text: await exported.text() }),
          planPage: (namespace, name, number) => planPage(term?.parts, `${namespace}/${name}`, number),
          syncPage: (namespace, name) => syncPage(term?.parts, `${namespace}/${name}`),
          hook: (namespace, name, headers, body) => receiveHook(term?.parts, `${namespace}/${name}`, headers, body),
        });

  const candidacy = runForLeader(
    client,
    {
      namespace: options.namespace,
      name: 'espalier-agent',
      identity,
      signal,
      onError: (error) => log.warn({ error: error.message }, 'lease'),
    },
    async (guard) => {
      log.info({ identity }, 'leading');
      term = runTerm({
        client: client.guarded(() => guard.check()),
        clock: systemClock,
        random: Math.random,
        log,
        metrics: exported.metrics,
        dir,
        instance: identity,
        namespace: options.namespace,
        urlPolicy: options.urlPolicy,
        pageUrl: options.pageUrl === 'own' ? web?.url : options.pageUrl,
        charts,
        onlyNamespace: options.onlyNamespace,
        isAgent: agentIdentity(options.namespace),
        concurrency: options.concurrency,
        renderers: options.renderers,
        fullLookEveryMs: options.fullLookEveryMs,
        graceMs: options.graceMs,
        signal: guard.signal,
      });
      term.ready.then(started.resolve, (error: unknown) => log.error({ error: messageOf(error) }, 'could not start'));
      try {
        await term.ended;
      } finally {
        term = undefined;
        log.info({ identity }, 'no longer leading');
      }
    },
  );

  const ended = new Promise<void>((resolve) => {
    const stop = async (): Promise<void> => {
      await candidacy.stop();
      await web?.close();
      await client.close();
      await charts.close();
      resolve();
    };
    if (signal.aborted) void stop();
    else signal.addEventListener('abort', () => void stop(), { once: true });
  });
  return {
    url: web?.url,
    leading: started.promise,
    ended,
    lookNow(sync) {
      if (term === undefined) return;
      for (const key of sync === undefined ? term.syncKeys() : [sync]) term.parts.wakeSync(key, { poll: true });
    },
  };
}

/** One line of JSON for each event, to stderr: stdout is for data. */
export function createLog(level: string): Logger {
  if (!['trace', 'debug', 'info', 'warn', 'error', 'silent'].includes(level)) {
    throw new EspalierError(
      'InvalidConfiguration',
      `log level "${level}" is none of trace, debug, info, warn, error, silent`,
      { retry: false },
    );
  }
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: true }));
}
