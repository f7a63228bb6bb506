import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Logger, pino } from 'pino';
import {
  API_VERSION,
  type KubeObject,
  type Plugin,
  type PluginStatus,
  readAs,
  type Sync,
} from '../../src/api/index.ts';
import { type Agent, startAgent } from '../../src/cli/start-agent.ts';
import type { KubeClient } from '../../src/cluster/client.ts';
import type { UrlPolicy } from '../../src/git/url.ts';
import { testKubeconfig } from './cluster.ts';
import { eventually } from './eventually.ts';
import { tempDir } from './tempdir.ts';

export interface TestAgentOptions {
  /** The agent looks after this namespace alone, so that tests run side by side on one control plane. */
  namespace: string;
  kubeconfig?: string;
  cacheDir?: string;
  fullLookEveryMs?: number;
  pageUrl?: string;
  log?: string;
  /** Default: plain http and every address, as the servers of tests need. */
  urlPolicy?: UrlPolicy;
  /** Gets every line that the agent logs, of every level. */
  onLog?(line: string): void;
}

export interface TestAgent extends Agent {
  /** As SIGTERM does. */
  stop(): Promise<void>;
}

/** An agent in this process; it ends with the test. Set ESPALIER_TEST_LOG to a file to see what it says. */
export async function startTestAgent(t: Pick<TestContext, 'after'>, options: TestAgentOptions): Promise<TestAgent> {
  const stop = new AbortController();
  const agent = await startAgent({
    kubeconfig: options.kubeconfig ?? testKubeconfig(),
    namespace: options.namespace,
    onlyNamespace: options.namespace,
    cacheDir: options.cacheDir ?? (await tempDir(t)),
    http: { host: '127.0.0.1', port: 0 },
    urlPolicy: options.urlPolicy ?? { http: true, privateAddresses: true },
    pageUrl: options.pageUrl,
    concurrency: 8,
    renderers: 2,
    fullLookEveryMs: options.fullLookEveryMs ?? 6 * 3_600_000,
    graceMs: 2_000,
    log: logFor(options),
    signal: stop.signal,
  });
  const ended = async (): Promise<void> => {
    stop.abort();
    await agent.ended;
  };
  t.after(ended);
  await agent.leading;
  return { ...agent, stop: ended };
}

function logFor({ onLog }: TestAgentOptions): Logger {
  const file = process.env.ESPALIER_TEST_LOG;
  if (onLog !== undefined) return pino({ base: null, level: 'trace' }, { write: onLog });
  if (file !== undefined) return pino({ base: null, level: 'debug' }, createWriteStream(file, { flags: 'a' }));
  return pino({ level: 'silent' });
}

/** An agent as a process of its own, to be killed. */
export function spawnTestAgent(
  t: Pick<TestContext, 'after'>,
  options: TestAgentOptions & { cacheDir: string },
): ChildProcess {
  const cli = join(import.meta.dirname, '..', '..', 'src', 'cli.ts');
  const args = [
    cli,
    'agent',
    '--kubeconfig',
    options.kubeconfig ?? testKubeconfig(),
    '-n',
    options.namespace,
    '--only-namespace',
    options.namespace,
  ];
  const child = spawn(
    process.execPath,
    [
      ...args,
      '--listen',
      'off',
      '--allow-http',
      '--allow-private',
      '--log-level',
      options.log ?? 'info',
      '--grace',
      '2s',
    ],
    {
      env: { ...process.env, ESPALIER_CACHE_DIR: options.cacheDir },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const log = createWriteStream(process.env.ESPALIER_TEST_LOG ?? join(options.cacheDir, 'agent.log'), { flags: 'a' });
  child.stderr?.pipe(log);
  t.after(() => void child.kill('SIGKILL'));
  return child;
}

export interface SyncWish {
  namespace: string;
  name?: string;
  url: string;
  spec?: Record<string, unknown>;
}

/** Declares what to follow; polls seldom, so that tests decide when (`lookNow`). */
export async function declareTestSync(
  client: KubeClient,
  { namespace, name = 'sync', url, spec = {} }: SyncWish,
): Promise<Sync> {
  const object: KubeObject = {
    apiVersion: API_VERSION,
    kind: 'Sync',
    metadata: { name, namespace },
    spec: { repository: { url, ref: { branch: 'main' } }, poll: '1h', ...spec },
  };
  return readAs(await client.apply(object, { fieldManager: 'test', force: true }), 'Sync');
}

export async function getPlugin(client: KubeClient, namespace: string, name: string): Promise<Plugin | undefined> {
  const object = await client.get({ apiVersion: API_VERSION, kind: 'Plugin', namespace, name });
  return object === undefined ? undefined : readAs(object, 'Plugin');
}

export async function getSync(client: KubeClient, namespace: string, name = 'sync'): Promise<Sync> {
  const object = await client.get({ apiVersion: API_VERSION, kind: 'Sync', namespace, name });
  if (object === undefined) throw new Error(`no Sync ${namespace}/${name}`);
  return readAs(object, 'Sync');
}

/** Waits until the Sync has the commit and says this phase; returns it. */
export async function syncReaches(
  client: KubeClient,
  namespace: string,
  phase: string,
  options: { name?: string; commit?: string; timeoutMs?: number } = {},
): Promise<Sync> {
  return await eventually(
    async () => {
      const sync = await getSync(client, namespace, options.name);
      const { status } = sync;
      const isAt = options.commit === undefined || status?.observed?.commit === options.commit;
      if (status?.phase !== phase || !isAt)
        throw new Error(`Sync is ${status?.phase} at ${status?.observed?.commit}: ${status?.message}`);
      return sync;
    },
    { timeoutMs: options.timeoutMs ?? 30_000 },
  );
}

export async function pluginReaches(
  client: KubeClient,
  namespace: string,
  name: string,
  phase: NonNullable<PluginStatus['phase']>,
  { timeoutMs = 30_000 } = {},
): Promise<Plugin> {
  return await eventually(
    async () => {
      const plugin = await getPlugin(client, namespace, name);
      const isCurrent = plugin?.status?.observedGeneration === plugin?.metadata.generation;
      if (plugin?.status?.phase !== phase || !isCurrent)
        throw new Error(`Plugin ${name} is ${plugin?.status?.phase}: ${plugin?.status?.message}`);
      return plugin;
    },
    { timeoutMs },
  );
}

/** YAML of a Plugin of plain manifests at a folder. */
export function pluginYaml(name: string, path: string, extra: Record<string, unknown> = {}): string {
  const spec = { kind: 'manifests', source: { git: { path } }, ...extra };
  return JSON.stringify({ apiVersion: API_VERSION, kind: 'Plugin', metadata: { name }, spec }, null, 2);
}

export function configMap(name: string, data: Record<string, string> = { a: '1' }, namespace?: string): string {
  return JSON.stringify(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: namespace === undefined ? { name } : { name, namespace }, data },
    null,
    2,
  );
}
