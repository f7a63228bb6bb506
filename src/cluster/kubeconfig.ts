import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { messageOf } from '../api/index.ts';
import { type ClusterConfig, type Entry, invalid, material, readUser, record, textOf } from './kubeconfig-entries.ts';

export type { ClusterConfig, ClusterUser, Material } from './kubeconfig-entries.ts';

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface KubeconfigSource {
  /** A path; otherwise KUBECONFIG, ~/.kube/config, and last the pod's service account. */
  path?: string;
  /** The text itself, for instance from a Secret. It may not refer to files. */
  text?: string;
  context?: string;
  env?: Record<string, string | undefined>;
}

interface Merged {
  current: string | undefined;
  clusters: Map<string, { entry: Entry; base: string | undefined }>;
  contexts: Map<string, { entry: Entry; base: string | undefined }>;
  users: Map<string, { entry: Entry; base: string | undefined }>;
}

/** Reads kubeconfig files as kubectl does: several are merged, the first one to name a thing wins. */
export function loadKubeconfig(source: KubeconfigSource = {}): ClusterConfig {
  const env = source.env ?? process.env;
  const merged: Merged = { current: undefined, clusters: new Map(), contexts: new Map(), users: new Map() };
  if (source.text !== undefined) {
    merge(merged, source.text, undefined, 'the given kubeconfig');
  } else {
    const paths = kubeconfigPaths(source.path, env);
    if (paths.length === 0) return inClusterConfig(env);
    for (const path of paths) merge(merged, readText(path), dirname(resolve(path)), path);
  }
  return select(merged, source.context ?? merged.current);
}

/** The service account of the pod that this process runs in. */
export function inClusterConfig(
  env: Record<string, string | undefined> = process.env,
  folder = SERVICE_ACCOUNT,
): ClusterConfig {
  const host = env.KUBERNETES_SERVICE_HOST;
  const port = env.KUBERNETES_SERVICE_PORT ?? '443';
  if (host === undefined || !existsSync(join(folder, 'token'))) {
    throw invalid('no kubeconfig found: set KUBECONFIG, give --kubeconfig, or run inside a cluster');
  }
  const namespaceFile = join(folder, 'namespace');
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ca: { file: join(folder, 'ca.crt') },
    user: { tokenFile: join(folder, 'token') },
    ...(existsSync(namespaceFile) ? { namespace: readFileSync(namespaceFile, 'utf8').trim() } : {}),
  };
}

function kubeconfigPaths(path: string | undefined, env: Record<string, string | undefined>): string[] {
  if (path !== undefined) return [path];
  if (env.KUBECONFIG) {
    const found = env.KUBECONFIG.split(delimiter).filter((each) => each !== '' && existsSync(each));
    if (found.length === 0) throw invalid(`KUBECONFIG is ${env.KUBECONFIG}, and no such file exists`);
    return found;
  }
  const standard = join(env.HOME ?? homedir(), '.kube', 'config');
  return existsSync(standard) ? [standard] : [];
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw invalid(`can't read the kubeconfig ${path}: ${messageOf(error)}`, error);
  }
}

function merge(into: Merged, text: string, base: string | undefined, where: string): void {
  let document: unknown;
  try {
    document = parse(text);
  } catch (error) {
    // The parser quotes the faulty line, which may hold a token.
    throw invalid(`${where} is not valid YAML`, { name: error instanceof Error ? error.name : 'unknown' });
  }
  if (document === null || document === undefined) return;
  const root = record(document, where);
  into.current ??= textOf(root['current-context']);
  for (const [list, field, target] of [
    ['clusters', 'cluster', into.clusters],
    ['contexts', 'context', into.contexts],
    ['users', 'user', into.users],
  ] as const) {
    const entries = root[list] ?? [];
    if (!Array.isArray(entries)) throw invalid(`${where}: ${list} must be a list`);
    for (const [index, item] of entries.entries()) {
      const named = record(item, `${where}: ${list}[${index}]`);
      const name = textOf(named.name);
      if (name === undefined) throw invalid(`${where}: ${list}[${index}].name is missing`);
      if (!target.has(name)) {
        target.set(name, { entry: record(named[field] ?? {}, `${where}: ${list}[${index}].${field}`), base });
      }
    }
  }
}

function select(merged: Merged, contextName: string | undefined): ClusterConfig {
  if (contextName === undefined) throw invalid('the kubeconfig has no current-context: choose one with --context');
  const context = merged.contexts.get(contextName);
  if (context === undefined) {
    const known = [...merged.contexts.keys()].join(', ') || 'none';
    throw invalid(`the kubeconfig has no context "${contextName}"; it has: ${known}`);
  }
  const clusterName = textOf(context.entry.cluster) ?? '';
  const cluster = merged.clusters.get(clusterName);
  if (cluster === undefined)
    throw invalid(`context "${contextName}" names the cluster "${clusterName}", which is missing`);
  const server = textOf(cluster.entry.server);
  if (server === undefined || !URL.canParse(server)) throw invalid(`cluster "${clusterName}" has no valid server URL`);
  const userName = textOf(context.entry.user) ?? '';
  const user = merged.users.get(userName) ?? { entry: {}, base: undefined };
  const config: ClusterConfig = {
    server: server.replace(/\/+$/, ''),
    user: readUser(user.entry, user.base, { name: userName, server }),
  };
  const ca = material(cluster.entry, 'certificate-authority', cluster.base);
  if (ca !== undefined) config.ca = ca;
  if (cluster.entry['insecure-skip-tls-verify'] === true) config.insecure = true;
  const serverName = textOf(cluster.entry['tls-server-name']);
  if (serverName !== undefined) config.serverName = serverName;
  const proxyUrl = textOf(cluster.entry['proxy-url']);
  if (proxyUrl !== undefined) config.proxyUrl = proxyUrl;
  const namespace = textOf(context.entry.namespace);
  if (namespace !== undefined) config.namespace = namespace;
  return config;
}
