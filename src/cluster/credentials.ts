import { readFile } from 'node:fs/promises';
import { EspalierError, messageOf } from '../api/index.ts';
import type { ClusterConfig, Material } from './kubeconfig.ts';

/** How long a token is trusted before its source is asked again, as client-go does. */
const TOKEN_FRESH_MS = 60_000;

export interface TlsMaterial {
  ca?: string | Buffer;
  cert?: string | Buffer;
  key?: string | Buffer;
}

export interface Credentials {
  /** The `Authorization` header; undefined when the client certificate is all there is. */
  authorization(): Promise<string | undefined>;
  /** After a 401: the next `authorization()` goes back to the source. */
  refresh(): void;
  /** Read anew for each connection, so rotated files are picked up. */
  tls(): Promise<TlsMaterial>;
}

export interface CredentialOptions {
  /** Exec plugins run programs: the agent refuses them. */
  allowExec: boolean;
  now?: () => number;
}

export function createCredentials(config: ClusterConfig, options: CredentialOptions): Credentials {
  const { user } = config;
  const plugin = user.plugin;
  if (plugin !== undefined && !options.allowExec) {
    throw new EspalierError(
      'KubeConfigInvalid',
      `this kubeconfig logs in through ${plugin.kind === 'exec' ? 'an exec plugin' : 'an auth provider'}, which is not allowed here: use a token, a token file or a client certificate`,
      { retry: false },
    );
  }
  const now = options.now ?? Date.now;
  let held: { value: PluginAnswer; at: number } | undefined;
  let asking: Promise<PluginAnswer> | undefined;

  async function answer(): Promise<PluginAnswer> {
    if (held !== undefined && now() - held.at < TOKEN_FRESH_MS) return held.value;
    asking ??= ask(config).finally(() => {
      asking = undefined;
    });
    const value = await asking;
    held = { value, at: now() };
    return value;
  }

  return {
    async authorization() {
      return (await answer()).authorization;
    },
    refresh() {
      held = undefined;
    },
    async tls() {
      const fromPlugin = plugin === undefined ? {} : await answer();
      const [ca, cert, key] = await Promise.all([load(config.ca), load(user.cert), load(user.key)]);
      return {
        ...(ca === undefined ? {} : { ca }),
        ...present('cert', fromPlugin.cert ?? cert),
        ...present('key', fromPlugin.key ?? key),
      };
    },
  };
}

interface PluginAnswer {
  authorization?: string;
  cert?: string | Buffer;
  key?: string | Buffer;
}

async function ask(config: ClusterConfig): Promise<PluginAnswer> {
  const { user } = config;
  if (user.plugin !== undefined) return askPlugin(user.plugin.kubeconfig);
  if (user.token !== undefined) return { authorization: `Bearer ${user.token}` };
  if (user.tokenFile !== undefined) {
    return { authorization: `Bearer ${String(await read(user.tokenFile)).trim()}` };
  }
  if (user.username !== undefined) {
    const pair = Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64');
    return { authorization: `Basic ${pair}` };
  }
  return {};
}

/** client-node knows the plugins; loading it takes 0.4 s and 90 MB, so it comes in for those who need it only. */
async function askPlugin(kubeconfig: string): Promise<PluginAnswer> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  const request: { headers?: Record<string, unknown>; cert?: unknown; key?: unknown } = {};
  try {
    config.loadFromString(kubeconfig);
    await config.applyToHTTPSOptions(request);
  } catch (error) {
    throw new EspalierError('KubeUnauthorized', `the kubeconfig's login program failed: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const header = request.headers?.Authorization;
  return {
    ...(typeof header === 'string' ? { authorization: header } : {}),
    ...present('cert', pem(request.cert)),
    ...present('key', pem(request.key)),
  };
}

function pem(value: unknown): string | Buffer | undefined {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value : undefined;
}

function present<K extends string, V>(name: K, value: V | undefined): { [key in K]?: V } {
  return (value === undefined ? {} : { [name]: value }) as { [key in K]?: V };
}

async function load(material: Material | undefined): Promise<string | Buffer | undefined> {
  if (material === undefined) return undefined;
  return 'data' in material ? material.data : read(material.file);
}

async function read(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new EspalierError('KubeConfigInvalid', `can't read the credential file ${file}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
