import { join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  ANNOTATION,
  API_VERSION,
  type KubeObject,
  type ObjectRef,
  type Plugin,
  type PluginPhase,
  type Sync,
  type SyncPhase,
} from '../../../src/api/index.ts';
import type { KubeClient } from '../../../src/cluster/client.ts';
import type { GitServer, ServedRepository } from '../../../src/playground/gitserver.ts';
import {
  declareTestSync,
  getPlugin,
  getSync,
  pluginReaches,
  startTestAgent,
  syncReaches,
  type TestAgent,
  type TestAgentOptions,
} from '../../support/agent.ts';
import { isDisposable, testClient, testNamespace } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { type CommitOptions, commitFiles, type NewFile, testGitServer } from '../../support/gitserver.ts';
import { tempDir } from '../../support/tempdir.ts';

/** A repository, a Sync that follows it and an agent, alone in a namespace; with what stories ask of them. */
export interface Platform {
  client: KubeClient;
  namespace: string;
  server: GitServer;
  repository: ServedRepository;
  /** Of the last commit. */
  readonly commit: string;
  /** Commits and makes the agent look. */
  push(files: Record<string, NewFile>, options?: CommitOptions): Promise<string>;
  look(): void;
  /** Ends the agent, and starts another that knows nothing but what the cluster and its cache folder hold. */
  restart(options?: Partial<TestAgentOptions>): Promise<void>;
  stopAgent(): Promise<void>;
  /** Waits until the Sync says so about the last commit. */
  reaches(phase: SyncPhase): Promise<Sync>;
  /** Waits until the Sync is ready at the last commit. */
  settles(): Promise<Sync>;
  /** Waits until the Sync's message has this in it. */
  says(text: RegExp): Promise<Sync>;
  pluginReaches(name: string, phase: PluginPhase): Promise<Plugin>;
  pluginSays(name: string, text: RegExp): Promise<Plugin>;
  plugin(name: string): Promise<Plugin | undefined>;
  sync(name?: string): Promise<Sync>;
  /** Approves a commit, as `espalier approve` does. */
  approve(commit: string): Promise<void>;
  /** Changes the Sync as a person does. */
  edit(spec: Record<string, unknown>): Promise<void>;
  ref(kind: string, name: string, apiVersion?: string): ObjectRef;
  get(kind: string, name: string, apiVersion?: string): Promise<KubeObject | undefined>;
  /** UID of a ConfigMap; throws when there is none. */
  uid(name: string): Promise<string>;
  exists(name: string): Promise<boolean>;
  isGone(kind: string, name: string, apiVersion?: string): Promise<void>;
}

export interface PlatformOptions {
  files: Record<string, NewFile>;
  /** Of the Sync, beside its repository. */
  spec?: Record<string, unknown>;
  agent?: Partial<TestAgentOptions>;
  prefix?: string;
  /** Do something before the agent starts. */
  prepare?(client: KubeClient, namespace: string): Promise<void>;
}

export async function startPlatform(t: Pick<TestContext, 'after'>, options: PlatformOptions): Promise<Platform> {
  const client = testClient();
  const namespace = await testNamespace(t, { prefix: options.prefix ?? 'deleting' });
  const server = await testGitServer(t);
  const repository = await server.createRepository('platform');
  let commit = await commitFiles(repository, options.files);
  await options.prepare?.(client, namespace);
  const { repository: given, ...spec } = options.spec ?? {};
  const source = { url: repository.url, ref: { branch: 'main' }, ...(given as object | undefined) };
  await declareTestSync(client, { namespace, url: repository.url, spec: { ...spec, repository: source } });
  const cacheDir = join(await tempDir(t), 'cache');
  const wish = { namespace, cacheDir, ...options.agent };
  let agent: TestAgent = await startTestAgent(t, wish);
  if (!isDisposable()) t.after(() => releaseAll(client, namespace));
  const ref = (kind: string, name: string, apiVersion = 'v1'): ObjectRef => ({ apiVersion, kind, namespace, name });

  const platform: Platform = {
    client,
    namespace,
    server,
    repository,
    get commit() {
      return commit;
    },
    async push(files, commitOptions) {
      commit = await commitFiles(repository, files, commitOptions);
      agent.lookNow();
      return commit;
    },
    look: () => agent.lookNow(),
    async restart(changed = {}) {
      await agent.stop();
      agent = await startTestAgent(t, { ...wish, ...changed });
    },
    stopAgent: () => agent.stop(),
    reaches: (phase) => syncReaches(client, namespace, phase, { commit }),
    settles: () => syncReaches(client, namespace, 'Ready', { commit }),
    says: (text) => eventually(async () => spoken(await getSync(client, namespace), text), { timeoutMs: 20_000 }),
    pluginReaches: (name, phase) => pluginReaches(client, namespace, name, phase),
    pluginSays: (name, text) =>
      eventually(async () => spoken(await getPlugin(client, namespace, name), text), { timeoutMs: 20_000 }),
    plugin: (name) => getPlugin(client, namespace, name),
    sync: (name) => getSync(client, namespace, name),
    async approve(approved) {
      const body = { metadata: { annotations: { [ANNOTATION.approve]: approved } } };
      await client.patch(ref('Sync', 'sync', API_VERSION), body, { type: 'merge', fieldManager: 'somebody' });
    },
    async edit(changed) {
      const body = { spec: changed } as { spec: Record<string, string> };
      await client.patch(ref('Sync', 'sync', API_VERSION), body, { type: 'merge', fieldManager: 'somebody' });
    },
    ref,
    get: (kind, name, apiVersion) => client.get(ref(kind, name, apiVersion)),
    async uid(name) {
      const { uid } = (await client.get(ref('ConfigMap', name)))?.metadata ?? {};
      if (uid === undefined) throw new Error(`there is no ConfigMap ${name}`);
      return uid;
    },
    exists: async (name) => (await client.get(ref('ConfigMap', name))) !== undefined,
    isGone: (kind, name, apiVersion) =>
      eventually(
        async () => {
          if ((await client.get(ref(kind, name, apiVersion))) !== undefined)
            throw new Error(`${kind} ${name} is there`);
        },
        { timeoutMs: 20_000 },
      ),
  };
  return platform;
}

function spoken<T extends Sync | Plugin>(object: T | undefined, text: RegExp): T {
  if (object !== undefined && text.test(object.status?.message ?? '')) return object;
  throw new Error(`${object?.kind} ${object?.metadata.name} is ${object?.status?.phase}: ${object?.status?.message}`);
}

/** The agent is gone: nobody else would let the namespace go. */
async function releaseAll(client: KubeClient, namespace: string): Promise<void> {
  for (const kind of ['Sync', 'Plugin']) {
    const { items } = await client.list({ apiVersion: API_VERSION, kind, namespace, metadataOnly: true });
    for (const { metadata } of items) {
      const body = { metadata: { finalizers: null } };
      const target = { apiVersion: API_VERSION, kind, namespace, name: metadata.name };
      await client.patch(target, body, { type: 'merge' }).catch(() => undefined);
    }
  }
}

/** A document of a repository: JSON is YAML too. */
export function yaml(object: Record<string, unknown>): string {
  return JSON.stringify(object, null, 2);
}
