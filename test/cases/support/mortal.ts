import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { startAgent } from '../../../src/cli/start-agent.ts';
import { spawnTestAgent } from '../../support/agent.ts';
import { testKubeconfig } from '../../support/cluster.ts';
import { type Hook, type HttpProxy, type SeenRequest, startHttpProxy } from '../../support/httpproxy.ts';
import { isMoment, type Moment } from './moments.ts';

/**
 * `process`: the agent as it is run, killed by SIGKILL. `abandoned`: in this process; from the moment on nothing that it
 * sends gets through, and it hears nothing more. To the cluster that is the same, and it costs a tenth.
 */
export type Body = 'process' | 'abandoned';

export interface MortalOptions {
  namespace: string;
  body: Body;
  cacheDir: string;
  moment?: Moment;
  /** Which mutating requests count. Default: all but events, and renewals of the lease, which come by the clock. */
  counts?(request: SeenRequest): boolean;
}

/** An agent behind a proxy of its own, to be killed at a moment. */
export interface MortalAgent {
  /** What counts of its requests since the last `arm`, in order. */
  readonly writes: readonly SeenRequest[];
  /** Counts from 1 again, and kills the agent at that moment if there is one. */
  arm(moment?: Moment): void;
  kill(): Promise<void>;
  /** Resolves once it is dead. */
  readonly dead: Promise<void>;
}

/** Starts an agent and returns at once: it may be killed before it does anything. */
export async function startMortal(t: Pick<TestContext, 'after'>, options: MortalOptions): Promise<MortalAgent> {
  const { counts = changesState } = options;
  const proxy = await startHttpProxy({ kubeconfig: testKubeconfig() });
  const death = Promise.withResolvers<void>();
  let writes: SeenRequest[] = [];
  let moment = options.moment;
  let isDead = false;

  function die(): void {
    if (isDead) return;
    isDead = true;
    starting.then((stop) => stop()).then(death.resolve, death.reject);
  }

  const at =
    (when: Moment['when']): Hook =>
    (request) => {
      if (isDead) return 'hang';
      const isCounted = request.mutation > 0 && counts(request);
      if (isCounted && when === 'before') writes.push(request);
      if (isCounted && moment?.when === when && isMoment(request, writes, moment)) die();
      return isDead ? 'hang' : undefined;
    };
  proxy.before = at('before');
  proxy.after = at('after');

  const starting = options.body === 'process' ? startProcess(t, proxy, options) : startAbandoned(proxy, options);
  await starting;
  const kill = async (): Promise<void> => {
    die();
    await death.promise;
    await proxy.close();
  };
  t.after(kill);
  return {
    get writes() {
      return writes;
    },
    arm(next) {
      writes = [];
      moment = next;
    },
    kill,
    dead: death.promise,
  };
}

function changesState({ method, path }: SeenRequest): boolean {
  return !path.includes('/events') && !(method === 'PUT' && path.includes('/leases/'));
}

/** Starts one way of being; the answer ends it. */
async function startProcess(
  t: Pick<TestContext, 'after'>,
  proxy: HttpProxy,
  options: MortalOptions,
): Promise<() => Promise<void>> {
  const { namespace, cacheDir } = options;
  const child = spawnTestAgent(t, { namespace, cacheDir, kubeconfig: await kubeconfigOf(proxy, options) });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return () => {
    child.kill('SIGKILL');
    return exited;
  };
}

async function startAbandoned(proxy: HttpProxy, options: MortalOptions): Promise<() => Promise<void>> {
  const { namespace, cacheDir } = options;
  const abort = new AbortController();
  const agent = await startAgent({
    kubeconfig: await kubeconfigOf(proxy, options),
    namespace,
    onlyNamespace: namespace,
    cacheDir,
    http: undefined,
    urlPolicy: { http: true, privateAddresses: true },
    pageUrl: undefined,
    concurrency: 8,
    renderers: 2,
    fullLookEveryMs: 6 * 3_600_000,
    graceMs: 1,
    log: pino({ level: 'silent' }),
    signal: abort.signal,
  });
  return async () => {
    await proxy.close();
    // It is dead already. This gives its memory back.
    abort.abort();
    await agent.ended;
  };
}

async function kubeconfigOf(proxy: HttpProxy, { cacheDir }: MortalOptions): Promise<string> {
  const path = join(cacheDir, `kubeconfig-${new URL(proxy.url).port}`);
  await writeFile(path, proxy.kubeconfig);
  return path;
}
