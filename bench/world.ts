import { createHmac, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { API_VERSION } from '../src/api/index.ts';
import { createClient, type KubeClient } from '../src/cluster/client.ts';
import { startControlPlane } from '../src/playground/controlplane.ts';
import { type GitServer, type ServedRepository, startGitServer } from '../src/playground/gitserver.ts';
import { installKinds } from '../src/playground/install.ts';
import { commitFiles, type NewFile } from '../test/support/gitserver.ts';
import { type AgentProcess, startAgentProcess } from './agent-process.ts';
import { type PluginWatch, watchPlugins } from './plugin-watch.ts';
import { type SyncWatch, watchSync } from './sync-watch.ts';

/** A control plane, a Git server and an agent of the benchmark's own, the agent following one repository. */
export interface World {
  kubeconfig: string;
  client: KubeClient;
  git: GitServer;
  /** Of the Sync and its Plugins. */
  namespace: string;
  agent: AgentProcess;
  plugins: PluginWatch;
  sync: SyncWatch;
  /** Puts files into the repository, and returns the commit. Nobody is told. */
  commit(files: Record<string, NewFile>): Promise<string>;
  /** Tells the agent by webhook, signed as GitHub does; returns the moment when that was sent. */
  hook(): Promise<number>;
  /** Ends the agent and starts another, as an update of the agent would. */
  restartAgent(): Promise<void>;
}

const SYNC = 'platform';
const USER = 'espalier';

export async function inWorld<T>(work: (world: World) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'espalier-bench-'));
  const undo: (() => Promise<unknown>)[] = [];
  try {
    undo.push(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
    // Garbage is collected when a server has made as much of it as usual, and not to save the memory of a small machine.
    const plane = await startControlPlane({ memoryLimit: '4GiB' });
    undo.push(() => plane.stop());
    const client = createClient({ kubeconfig: plane.kubeconfigPath });
    undo.push(() => client.close());
    const git = await startGitServer({ root: join(dir, 'repositories') });
    undo.push(() => git.stop());
    const secret = randomBytes(16).toString('hex');
    const access = { credential: { user: USER, password: secret } };
    const repository = await git.createRepository('platform', { access });
    await installKinds(client, AbortSignal.timeout(60_000));
    const namespace = `bench-${randomBytes(4).toString('hex')}`;
    await declare(client, namespace, repository, secret);
    const stopWatch = new AbortController();
    undo.push(async () => stopWatch.abort());
    const plugins = watchPlugins(client, namespace, stopWatch.signal);
    const sync = await watchSync(client, namespace, SYNC, stopWatch.signal);
    const start = () => startAgentProcess({ kubeconfig: plane.kubeconfigPath, dir });
    const world: World = {
      kubeconfig: plane.kubeconfigPath,
      client,
      git,
      namespace,
      agent: await start(),
      plugins,
      sync,
      commit: (files) => commitFiles(repository, files),
      async hook() {
        const at = performance.now();
        await postHook(`${world.agent.url}/hooks/${namespace}/${SYNC}`, secret);
        return at;
      },
      async restartAgent() {
        await world.agent.stop();
        world.agent = await start();
      },
    };
    undo.push(() => world.agent.stop());
    return await work(world);
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

async function declare(
  client: KubeClient,
  namespace: string,
  repository: ServedRepository,
  secret: string,
): Promise<void> {
  const spec = {
    repository: { url: repository.url, ref: { branch: 'main' }, secretRef: { name: 'git' } },
    // Nothing but the webhook: no figure may owe anything to a poll that happened to come.
    poll: '24h',
    // A benchmark may take away what it made.
    prune: { hold: { percent: 100, count: 100_000 } },
  };
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'git', namespace },
      stringData: { username: USER, password: secret, webhookSecret: secret },
    },
    { apiVersion: API_VERSION, kind: 'Sync', metadata: { name: SYNC, namespace }, spec },
  ];
  await commitFiles(repository, { 'README.md': 'the platform\n' });
  for (const object of objects) await client.apply(object, { fieldManager: 'bench' });
}

async function postHook(url: string, secret: string): Promise<void> {
  const body = '{"ref":"refs/heads/main"}';
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const answer = await fetch(url, { method: 'POST', body, headers: { 'x-hub-signature-256': signature } });
  if (answer.status !== 202) throw new Error(`the agent refused the webhook: ${answer.status} ${await answer.text()}`);
}
