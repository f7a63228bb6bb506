import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { API_VERSION } from '../src/api/index.ts';
import { createClient, type KubeClient } from '../src/cluster/client.ts';
import { startControlPlane } from '../src/playground/controlplane.ts';
import { startGitea } from '../src/playground/forge/gitea.ts';
import { createPerson } from '../src/playground/forge/person.ts';
import type { HostedRepository } from '../src/playground/forge/repository.ts';
import { installKinds } from '../src/playground/install.ts';
import { type ForgeProxy, startForgeProxy } from '../test/support/forgeproxy.ts';
import { type AgentProcess, startAgentProcess } from './agent-process.ts';
import { type PluginWatch, watchPlugins } from './plugin-watch.ts';

/** A control plane, a Gitea and an agent of the benchmark's own, and a repository there that the agent follows. */
export interface ForgeWorld {
  client: KubeClient;
  /** Of the Sync and its Plugins. */
  namespace: string;
  repository: HostedRepository;
  agent: AgentProcess;
  plugins: PluginWatch;
  /** Everything that the forge tells the agent. */
  toAgent: ForgeProxy;
  /** Everything that the agent asks and tells the forge. */
  toForge: ForgeProxy;
}

const SYNC = 'platform';
const EVENTS = ['push', 'pull_request', 'issue_comment'];

/** Nothing tells the agent but the forge's own webhooks: they and the agent's answers pass a proxy that takes the time. */
export async function inForgeWorld<T>(work: (world: ForgeWorld) => Promise<T>): Promise<T> {
  await using parts = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'espalier-bench-'));
  parts.defer(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  const plane = await startControlPlane();
  parts.defer(() => plane.stop());
  const client = createClient({ kubeconfig: plane.kubeconfigPath });
  parts.defer(() => client.close());
  const gitea = await startGitea({ root: join(dir, 'gitea') });
  parts.defer(() => gitea.stop());
  const [owner, account] = await Promise.all([
    createPerson(gitea, gitea.admin, 'ada'),
    createPerson(gitea, gitea.admin, 'espalier'),
  ]);
  const repository = await owner.createRepository('platform');
  await repository.push({ 'README.md': 'the platform\n' });
  await repository.addCollaborator(account.name, 'admin');
  const toForge = await startForgeProxy(gitea.url);
  parts.defer(() => toForge.close());
  await installKinds(client, AbortSignal.timeout(60_000));
  const namespace = `bench-${randomBytes(4).toString('hex')}`;
  const secret = randomBytes(16).toString('hex');
  const login = { username: account.name, password: account.token, token: account.token, webhookSecret: secret };
  const spec = {
    cluster: { name: 'bench' },
    repository: { url: repository.url, ref: { branch: 'main' }, secretRef: { name: 'forge' } },
    forge: { kind: 'gitea', url: toForge.url, secretRef: { name: 'forge' } },
    // Nothing but the webhook: no figure may owe anything to a poll that happened to come.
    poll: '24h',
  };
  for (const object of [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'forge', namespace }, stringData: login },
    { apiVersion: API_VERSION, kind: 'Sync', metadata: { name: SYNC, namespace }, spec },
  ])
    await client.apply(object, { fieldManager: 'bench' });
  const stopWatch = new AbortController();
  parts.defer(() => stopWatch.abort());
  const plugins = watchPlugins(client, namespace, stopWatch.signal);
  const agent = await startAgentProcess({ kubeconfig: plane.kubeconfigPath, dir });
  parts.defer(() => agent.stop());
  const toAgent = await startForgeProxy(agent.url);
  parts.defer(() => toAgent.close());
  await repository.createHook({ url: `${toAgent.url}/hooks/${namespace}/${SYNC}`, secret, events: EVENTS });
  return await work({ client, namespace, repository, agent, plugins, toAgent, toForge });
}
