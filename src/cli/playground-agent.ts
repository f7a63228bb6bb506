import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentFactory } from '../playground/agentseam.ts';

/** The agent of a playground: in this process, with its log in a file, allowed to use the Git server on this machine. */
export const startPlaygroundAgent: AgentFactory = async ({ kubeconfig, context, namespace, logs, signal }) => {
  const [{ startAgent }, { pino }] = await Promise.all([import('./start-agent.ts'), import('pino')]);
  const cacheDir = await mkdtemp(join(logs, '..', 'agent-'));
  const stop = new AbortController();
  const broken = Promise.withResolvers<string>();
  const agent = await startAgent({
    kubeconfig,
    ...(context === undefined ? {} : { context }),
    namespace,
    onlyNamespace: undefined,
    cacheDir,
    http: { host: '127.0.0.1', port: 0 },
    urlPolicy: { http: true, privateAddresses: true },
    pageUrl: 'own',
    concurrency: 16,
    renderers: 4,
    fullLookEveryMs: 6 * 3_600_000,
    graceMs: 3_000,
    log: pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, createWriteStream(join(logs, 'agent.log'))),
    signal: AbortSignal.any([signal, stop.signal]),
  });
  agent.ended.then(
    () => stop.signal.aborted || signal.aborted || broken.resolve('the agent'),
    (error: unknown) => broken.resolve(`the agent (${error instanceof Error ? error.message : String(error)})`),
  );
  return {
    http: agent.url ?? null,
    lookNow: () => agent.lookNow(),
    broken: broken.promise,
    async stop() {
      stop.abort();
      await agent.ended;
      await rm(cacheDir, { recursive: true, force: true });
    },
  };
};
