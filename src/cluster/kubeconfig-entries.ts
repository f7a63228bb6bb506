import { resolve } from 'node:path';
import { EspalierError } from '../api/index.ts';
import { isRecord } from './json.ts';

/** PEM or token, in place or in a file that is read again whenever it is needed. */
export type Material = { data: string | Buffer } | { file: string };

export interface ClusterUser {
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  cert?: Material;
  key?: Material;
  impersonate?: { name: string; groups?: string[]; uid?: string; extra?: Record<string, string[]> };
  /** An exec or auth-provider entry: handed to client-node as it is, with its cluster. */
  plugin?: { kind: 'exec' | 'auth-provider'; kubeconfig: string };
}

/** One context, resolved: where the API server is, how to trust it and who we are. */
export interface ClusterConfig {
  server: string;
  ca?: Material;
  insecure?: boolean;
  serverName?: string;
  proxyUrl?: string;
  namespace?: string;
  user: ClusterUser;
}

/** A cluster, context or user as the file has it, not yet looked at. */
export type Entry = Record<string, unknown>;

export function readUser(entry: Entry, base: string | undefined, at: { name: string; server: string }): ClusterUser {
  const user: ClusterUser = {};
  // As kubectl: a token in place wins over a token file.
  const token = textOf(entry.token);
  const tokenFile = textOf(entry.tokenFile);
  if (token !== undefined) user.token = token;
  else if (tokenFile !== undefined) user.tokenFile = absolute(tokenFile, base);
  const username = textOf(entry.username);
  if (username !== undefined) {
    user.username = username;
    user.password = textOf(entry.password) ?? '';
  }
  const cert = material(entry, 'client-certificate', base);
  const key = material(entry, 'client-key', base);
  if (cert !== undefined) user.cert = cert;
  if (key !== undefined) user.key = key;
  const as = textOf(entry.as);
  if (as !== undefined) user.impersonate = readImpersonation(as, entry);
  const kind = entry.exec !== undefined ? 'exec' : entry['auth-provider'] !== undefined ? 'auth-provider' : undefined;
  if (kind !== undefined) {
    const kubeconfig = JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: at.server } }],
      users: [{ name: at.name || 'u', user: { [kind]: entry[kind] } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: at.name || 'u' } }],
      'current-context': 'x',
    });
    user.plugin = { kind, kubeconfig };
  }
  return user;
}

function readImpersonation(name: string, entry: Entry): NonNullable<ClusterUser['impersonate']> {
  const impersonate: NonNullable<ClusterUser['impersonate']> = { name };
  if (Array.isArray(entry['as-groups'])) impersonate.groups = entry['as-groups'].map(String);
  const uid = textOf(entry['as-uid']);
  if (uid !== undefined) impersonate.uid = uid;
  if (entry['as-user-extra'] !== undefined) {
    const extra = record(entry['as-user-extra'], 'as-user-extra');
    impersonate.extra = Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [
        key,
        Array.isArray(values) ? values.map(String) : [String(values)],
      ]),
    );
  }
  return impersonate;
}

export function material(entry: Entry, field: string, base: string | undefined): Material | undefined {
  const data = textOf(entry[`${field}-data`]);
  if (data !== undefined) return { data: Buffer.from(data, 'base64') };
  const file = textOf(entry[field]);
  return file === undefined ? undefined : { file: absolute(file, base) };
}

function absolute(file: string, base: string | undefined): string {
  // Whoever wrote the text would otherwise choose which of our files is sent to a server of theirs.
  if (base === undefined) throw invalid(`a kubeconfig that is not a file can't refer to the file ${file}`);
  return resolve(base, file);
}

export function record(value: unknown, where: string): Entry {
  if (!isRecord(value)) throw invalid(`${where} must be a mapping`);
  return value;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function invalid(message: string, cause?: unknown): EspalierError {
  return new EspalierError('KubeConfigInvalid', message, { retry: false, ...(cause === undefined ? {} : { cause }) });
}
