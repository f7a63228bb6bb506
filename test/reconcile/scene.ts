import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { KubeObject, ObjectRef } from '../../src/api/index.ts';
import type { KubeClient } from '../../src/cluster/client.ts';
import type { ServedRepository } from '../../src/playground/gitserver.ts';
import {
  declareTestSync,
  startTestAgent,
  syncReaches,
  type TestAgent,
  type TestAgentOptions,
} from '../support/agent.ts';
import { testClient, testKubeconfig, testNamespace } from '../support/cluster.ts';
import { commitFiles, type NewFile, testGitServer } from '../support/gitserver.ts';
import { type Hook, type HttpProxy, startHttpProxy } from '../support/httpproxy.ts';
import { tempDir } from '../support/tempdir.ts';

export interface SceneOptions {
  files: Record<string, NewFile>;
  /** Of the Sync, beside its repository. */
  spec?: Record<string, unknown>;
  agent?: Partial<TestAgentOptions>;
  /** Breaks requests of the agent, from the first one on. */
  before?: Hook;
  /** Phase of the Sync that the scene begins at; undefined: it begins before anything was looked at. */
  until?: string | undefined;
}

/** A namespace with a repository, a Sync that follows it and an agent of their own, seen through a proxy that counts. */
export interface Scene {
  client: KubeClient;
  namespace: string;
  repository: ServedRepository;
  readonly agent: TestAgent;
  /** What the agent sends to the API server. */
  proxy: HttpProxy;
  /** Commits, and lets the agent look. */
  push(files: Record<string, NewFile>): Promise<string>;
  /** The same, and waits until the Sync says so. */
  settle(files: Record<string, NewFile>, phase?: string): Promise<string>;
  /** A reference in the scene's namespace. */
  ref(kind: string, name: string): ObjectRef;
  get(kind: string, name: string): Promise<KubeObject>;
  /** Writes of the agent to an object (`deployments/web`), since the proxy was reset. Dry runs and status are not among them. */
  writesTo(object: string): string[];
  /** Ends the agent and starts another one with the same cache. */
  restartAgent(whileDown?: () => Promise<void>): Promise<void>;
}

const API_VERSIONS: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  Job: 'batch/v1',
  Plugin: 'espalier.dev/v1alpha1',
  Sync: 'espalier.dev/v1alpha1',
};

type Context = Pick<TestContext, 'after'>;

export async function startScene(t: Context, options: SceneOptions): Promise<Scene> {
  const client = testClient();
  const namespace = await testNamespace(t);
  const server = await testGitServer(t);
  const repository = await server.createRepository('platform');
  await commitFiles(repository, options.files);
  const proxy = await startHttpProxy({ kubeconfig: testKubeconfig() });
  proxy.before = options.before;
  const folder = await tempDir(t);
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, proxy.kubeconfig);
  const start = (): Promise<TestAgent> =>
    startTestAgent(t, { namespace, kubeconfig, cacheDir: join(folder, 'cache'), ...options.agent });

  await declareTestSync(client, { namespace, url: repository.url, spec: options.spec ?? {} });
  const agents: TestAgent[] = [];
  // The agent first: it would miss its proxy.
  t.after(async () => {
    await agents.at(-1)?.stop();
    await proxy.close();
  });
  let agent = await start();
  agents.push(agent);
  const scene: Scene = {
    client,
    namespace,
    repository,
    proxy,
    get agent() {
      return agent;
    },
    async push(files) {
      const commit = await commitFiles(repository, files);
      agent.lookNow();
      return commit;
    },
    async settle(files, phase = 'Ready') {
      const commit = await scene.push(files);
      await syncReaches(client, namespace, phase, { commit });
      return commit;
    },
    ref: (kind, name) => ({ apiVersion: API_VERSIONS[kind] ?? 'v1', kind, namespace, name }),
    async get(kind, name) {
      const object = await client.get(scene.ref(kind, name));
      if (object === undefined) throw new Error(`no ${kind} ${name}`);
      return object;
    },
    writesTo: (object) =>
      proxy.requests
        .filter(({ mutation, path }) => mutation > 0 && path.split('?')[0]?.endsWith(`/${object}`))
        .map(({ method, path }) => `${method} ${path}`),
    async restartAgent(whileDown) {
      await agent.stop();
      await whileDown?.();
      agent = await start();
      agents.push(agent);
    },
  };
  const until = 'until' in options ? options.until : 'Ready';
  if (until !== undefined) await syncReaches(client, namespace, until);
  return scene;
}

/** YAML of a Deployment whose pods need nothing: kwok makes them ready. */
export function deployment(
  name: string,
  spec: { replicas?: number; image?: string; [field: string]: unknown } = {},
): string {
  const { replicas = 1, image = 'registry.example.com/app:1', resources = {}, ...rest } = spec;
  const labels = { app: name };
  return JSON.stringify(
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, labels: { tier: 'front' } },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            containers: [
              {
                name: 'app',
                image,
                env: [
                  { name: 'MODE', value: 'live' },
                  { name: 'LEVEL', value: 'info' },
                ],
                resources,
              },
              { name: 'side', image: 'registry.example.com/side:1' },
            ],
          },
        },
        ...rest,
      },
    },
    null,
    2,
  );
}
