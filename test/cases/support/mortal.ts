import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { startAgent } from '../../../src/cli/start-agent.ts';
import { spawnTestAgent } from '../../support/agent.ts';
import { testKubeconfig } from '../../support/cluster.ts';
import { type Hook, type HttpProxy, type SeenRequest, startHttpProxy } from '../../support/httpproxy.ts';
import { tempDir } from '../../support/tempdir.ts';

/** The n-th mutating request from now on: killed before it gets to the API server, or before the answer gets back. */
export interface Moment {
  at: number;
  when: 'before' | 'after';
}

/** An agent behind a proxy of its own, to be killed at a moment. */
export interface MortalAgent {
  /** Mutating requests since the last `arm`, in order. Renewals of the lease come by the clock and don't count. */
  readonly writes: readonly SeenRequest[];
  /** Counts from 1 again, and kills the agent at that moment if there is one. */
  arm(moment?: Moment): void;
  /** Resolves once it is dead. */
  readonly dead: Promise<void>;
  end(): Promise<void>;
}

/** How an agent is run and killed. */
export type Body = 'process' | 'abandoned';

/**
 * Starts an agent. A `process` is killed by SIGKILL. An `abandoned` one lives in this process: from the moment on, nothing
 * that it sends gets through and it hears nothing more, which to the cluster is the same and costs a tenth.
 */
export async function startMortal(
  t: Pick<TestContext, 'after'>,
  options: { namespace: string; body: Body; cacheDir: string; moment?: Moment },
): Promise<MortalAgent> {
  const proxy = await startHttpProxy({ kubeconfig: testKubeconfig() });
  const death = Promise.withResolvers<void>();
  let writes: SeenRequest[] = [];
  let moment = options.moment;
  let isDead = false;
  let stop = async (): Promise<void> => undefined;

  function die(): void {
    if (isDead) return;
    isDead = true;
    void stop().then(death.resolve);
  }
  const at =
    (when: Moment['when']): Hook =>
    (request) => {
      if (isDead) return 'hang';
      const counts = request.mutation > 0 && !isRenewal(request);
      if (counts && when === 'before') writes.push(request);
      if (counts && moment?.when === when && writes.indexOf(request) + 1 === moment.at) die();
      return isDead ? 'hang' : undefined;
    };
  proxy.before = at('before');
  proxy.after = at('after');

  stop = options.body === 'process' ? await startProcess(t, proxy, options) : await startAbandoned(proxy, options);
  if (isDead) await stop();
  const end = async (): Promise<void> => {
    die();
    await death.promise;
    await proxy.close();
  };
  t.after(end);
  return {
    get writes() {
      return writes;
    },
    arm(next) {
      writes = [];
      moment = next;
    },
    dead: death.promise,
    end,
  };
}

async function startProcess(
  t: Pick<TestContext, 'after'>,
  proxy: HttpProxy,
  { namespace, cacheDir }: { namespace: string; cacheDir: string },
): Promise<() => Promise<void>> {
  const kubeconfig = join(await tempDir(t), 'kubeconfig');
  await writeFile(kubeconfig, proxy.kubeconfig);
  const child = spawnTestAgent(t, { namespace, kubeconfig, cacheDir });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return () => {
    child.kill('SIGKILL');
    return exited;
  };
}

/** To be dead is not to be heard and not to hear; that it is told to stop as well only saves memory. */
async function startAbandoned(
  proxy: HttpProxy,
  { namespace, cacheDir }: { namespace: string; cacheDir: string },
): Promise<() => Promise<void>> {
  const kubeconfig = join(cacheDir, `kubeconfig-${new URL(proxy.url).port}`);
  await writeFile(kubeconfig, proxy.kubeconfig);
  const abort = new AbortController();
  const agent = await startAgent({
    kubeconfig,
    namespace,
    onlyNamespace: namespace,
    cacheDir,
    http: undefined,
    urlPolicy: { http: true, privateAddresses: true },
    concurrency: 8,
    renderers: 2,
    fullLookEveryMs: 6 * 3_600_000,
    graceMs: 1,
    log:
      process.env.ESPALIER_TEST_LOG === undefined
        ? pino({ level: 'silent' })
        : pino({ base: null, level: 'debug' }, pino.destination({ dest: process.env.ESPALIER_TEST_LOG, append: true })),
    signal: abort.signal,
  });
  return async () => {
    await proxy.close();
    abort.abort();
    await agent.ended;
  };
}

function isRenewal({ method, path }: SeenRequest): boolean {
  return method === 'PUT' && path.includes('/leases/');
}
