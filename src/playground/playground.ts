import { randomBytes } from 'node:crypto';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EspalierError, type JsonObject, messageOf } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import type { AgentFactory, RunningAgent } from './agentseam.ts';
import { type ChartPlaces, STAND_INS, serveCharts } from './charts/places.ts';
import { startControlPlane } from './controlplane.ts';
import { createPrivateFolder, playgroundRoot, removeFolder } from './folder.ts';
import { type PlaygroundForge, startForge } from './forge/serve.ts';
import { git } from './git.ts';
import { startGitServer } from './gitserver.ts';
import { declareSync, type Followed, installKinds } from './install.ts';

export interface PlaygroundOptions {
  /** Folder whose content becomes the first commit. */
  seed: string;
  /** Use this cluster instead of starting one. */
  cluster?: { kubeconfig: string; context?: string };
  /** A forge that serves the repository, instead of a plain Git server. */
  forge?: 'gitea' | undefined;
  /** What the Sync says besides where the repository is. */
  sync?: JsonObject;
  /** Absent: nothing follows the repository. */
  agent?: AgentFactory | undefined;
  signal?: AbortSignal;
  progress?: (message: string) => void;
}

export interface Playground {
  kubeconfig: string;
  client: KubeClient;
  /** `Kubernetes v1.36.3 at https://127.0.0.1:20123` */
  cluster: string;
  /** Whether the cluster goes with the playground. */
  ownsCluster: boolean;
  git: { url: string; user: string; password: string };
  /** The forge that serves it, when one does. */
  forge: PlaygroundForge | null;
  charts: Pick<ChartPlaces, 'repository' | 'registry'>;
  http: string | null;
  logs: string;
  hasAgent: boolean;
  /** Resolves with what ended though nobody stopped it. */
  broken: Promise<string>;
  /** Ends everything that the playground started. Harmless when repeated. */
  stop(): Promise<void>;
}

export const NAMESPACE = 'espalier-system';
export const REPOSITORY = 'platform';
const CHARTS = join(import.meta.dirname, '..', '..', 'examples', 'charts');

interface Cluster {
  kubeconfig: string;
  context?: string;
  logs: string;
  broken?: Promise<string>;
}

/** A cluster, a Git server that takes pushes, our kinds, and the agent that follows the one on the other. */
export async function startPlayground(options: PlaygroundOptions): Promise<Playground> {
  const { progress = () => {} } = options;
  await mustBeFolder(options.seed);
  const parts = new AsyncDisposableStack();
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, ...(options.signal === undefined ? [] : [options.signal])]);
  try {
    const loading = import('../cluster/client.ts'); // half a second that the servers need anyway
    const folder = await privateFolder(parts);
    const [sources, cluster] = await both(
      startSources(parts, folder, options, signal),
      startCluster(parts, folder, options, signal),
    );

    progress('installing our kinds');
    const { createClient } = await loading;
    const { kubeconfig, logs, context } = cluster;
    const client = createClient({ kubeconfig: sourceOf(kubeconfig), allowExec: true, ...(context && { context }) });
    parts.defer(() => client.close());
    const { gitVersion } = await client.version({ signal });
    await installKinds(client, signal);
    await declareSync(
      client,
      { namespace: NAMESPACE, name: REPOSITORY, spec: options.sync, ...sources.followed },
      signal,
    );

    let agent: RunningAgent | undefined;
    if (options.agent !== undefined) {
      progress('starting the agent');
      const place = { kubeconfig, ...(context && { context }), namespace: NAMESPACE, logs, signal };
      agent = await options.agent(place);
      parts.defer(() => agent?.stop());
      await sources.tell(agent, `/hooks/${NAMESPACE}/${REPOSITORY}`);
    }
    const never = new Promise<string>(() => {});
    return {
      kubeconfig,
      client,
      cluster: `Kubernetes ${gitVersion} at ${client.server}`,
      ownsCluster: options.cluster === undefined,
      git: sources.git,
      forge: sources.forge,
      charts: { repository: sources.charts.repository, registry: sources.charts.registry },
      http: agent?.http ?? null,
      logs,
      hasAgent: agent !== undefined,
      broken: Promise.race([cluster.broken ?? never, agent?.broken ?? never, sources.charts.broken, sources.broken]),
      async stop() {
        ending.abort();
        await parts.disposeAsync();
      },
    };
  } catch (error) {
    ending.abort();
    await parts.disposeAsync();
    throw error;
  }
}

async function privateFolder(parts: AsyncDisposableStack): Promise<string> {
  const folder = await createPrivateFolder(playgroundRoot());
  parts.defer(() => removeFolder(folder));
  return folder;
}

/** Where the repository is, and how the agent comes to it. */
interface Sources {
  charts: ChartPlaces;
  /** For people. */
  git: Playground['git'];
  forge: PlaygroundForge | null;
  /** For the agent. */
  followed: Pick<Followed, 'url' | 'user' | 'password' | 'forge'>;
  /** Has a push wake the agent at once; `path` is where it takes webhooks. */
  tell(agent: RunningAgent, path: string): Promise<void>;
  broken: Promise<string>;
}

/** Charts first: the repository names the addresses at which they are. */
async function startSources(
  parts: AsyncDisposableStack,
  folder: string,
  { seed, forge: wanted }: PlaygroundOptions,
  signal: AbortSignal,
): Promise<Sources> {
  const serving = serveCharts(CHARTS, join(folder, 'registry'), signal).then((places) => {
    parts.defer(() => places.stop());
    return places;
  });
  const starting = wanted === undefined ? undefined : startForge(parts, folder, signal);
  const [charts, forge] = await both(serving, starting ?? git(folder, ['--version']).then(() => undefined));
  const replace = { [STAND_INS.repository]: charts.repository, [STAND_INS.registry]: charts.registry };
  if (forge !== undefined) return { charts, ...(await forge.serve(REPOSITORY, seed, replace)) };
  const credential = { user: 'espalier', password: randomBytes(9).toString('base64url') };
  const server = await startGitServer({ root: join(folder, 'git') });
  parts.defer(() => server.stop());
  const { url } = await server.createRepository(REPOSITORY, { seed, replace, access: { credential } });
  return {
    charts,
    git: { url, ...credential },
    forge: null,
    followed: { url, ...credential },
    tell: async (agent) => void server.onPush(() => agent.lookNow()),
    broken: new Promise(() => {}),
  };
}

async function startCluster(
  parts: AsyncDisposableStack,
  folder: string,
  { cluster, progress }: PlaygroundOptions,
  signal: AbortSignal,
): Promise<Cluster> {
  if (cluster !== undefined) {
    const logs = join(folder, 'logs');
    await mkdir(logs);
    return { ...cluster, logs };
  }
  const plane = await startControlPlane({ signal, ...(progress && { progress }) });
  parts.defer(() => plane.stop());
  return { kubeconfig: plane.kubeconfigPath, logs: plane.logs, broken: plane.broken };
}

/**
 * Waits for both even when one fails: only then is everything known that must be ended. When both fail, both are told,
 * so that somebody who lacks two things need not find out one by one.
 */
async function both<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  const [one, other] = await Promise.allSettled([first, second]);
  if (one.status === 'rejected' && other.status === 'rejected') {
    const message = [one.reason, other.reason].map(messageOf).join('\n\n');
    throw new EspalierError('PlaygroundFailed', message, { cause: other.reason });
  }
  return [await first, await second];
}

/** KUBECONFIG may name several files; a path is one. */
function sourceOf(kubeconfig: string) {
  return { env: { ...process.env, KUBECONFIG: kubeconfig } };
}

async function mustBeFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  throw new EspalierError('InvalidConfiguration', `there is no folder ${path} to make the repository from`, {
    retry: false,
  });
}
