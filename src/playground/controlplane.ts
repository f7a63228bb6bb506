import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EspalierError, isError } from '../api/index.ts';
import { ensureTools } from '../tools/tool.ts';
import { apiServerArguments, FILES } from './apiserver.ts';
import { controllerManagerArguments, schedulerArguments } from './controllers.ts';
import {
  ADMIN,
  CONTROLLER_MANAGER,
  type Credentials,
  KWOK,
  SCHEDULER,
  type User,
  writeCredentials,
  writeUserKubeconfig,
} from './credentials.ts';
import { etcdArguments, etcdSocket } from './etcd.ts';
import { createPrivateFolder, playgroundRoot, removeFolder, sweepFolders } from './folder.ts';
import { kubeconfigFor } from './kubeconfig.ts';
import { kwokArguments, nodeObjects, takesPods, writePodLog } from './nodes.ts';
import { freePort } from './port.ts';
import { ask, type Endpoint } from './request.ts';
import { type ServerName, Servers } from './servers.ts';
import { waitFor } from './wait.ts';

export interface ControlPlaneOptions {
  /** Where the private folder is made. Default: beside the cached programs. */
  root?: string;
  nodes?: number;
  /** Such as `1.34.2`. Default: that of the tools table. */
  kubernetesVersion?: string;
  /** Users besides the administrator, each with a token of its own. */
  users?: User[];
  /** From how much on each server would rather collect garbage than be fast, as Go writes it: `4GiB`. Default 1 GiB. */
  memoryLimit?: string;
  signal?: AbortSignal;
  /** Told what is being started, for people. */
  progress?: (message: string) => void;
}

/** A private Kubernetes control plane on this machine: real servers, and nodes and pods without machines. */
export interface ControlPlane {
  kubeconfigPath: string;
  url: string;
  /** The administrator's. */
  token: string;
  /** PEM, base64: as in a kubeconfig. */
  caData: string;
  /** The private folder. It goes when the control plane stops. */
  dir: string;
  /** Folder with one log for each server. */
  logs: string;
  /** Resolves with the name of a server that ended though nobody stopped it. */
  broken: Promise<string>;
  tokenOf(user: string): string | undefined;
  /** Path of a kubeconfig for one more user. */
  addUser(user: User): Promise<string>;
  pids(): number[];
  /** Stops the API server and starts it on the same port with the same data; resolves when it is ready again. */
  restartApiServer(options?: { graceMs?: number }): Promise<void>;
  /**
   * Starts the API server and its controllers again as another Kubernetes version (`1.36.3`), on the same port with the
   * same data; resolves when the API server is ready.
   */
  changeVersion(kubernetesVersion: string, options?: { graceMs?: number }): Promise<void>;
  /** Ends every server and removes the folder. Harmless when repeated. */
  stop(): Promise<void>;
}

const POD_TIMEOUT_MS = 60_000;
const PORT_TRIES = 3;

/**
 * Resolves when pods can be scheduled. Servers die with this process, however it ends; a folder that it leaves behind
 * is removed by the next start.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const { signal, progress = () => {} } = options;
  const paths = await findServers(options);
  const root = options.root ?? playgroundRoot();
  await sweepFolders(root);
  const dir = await createPrivateFolder(root);
  const servers = new Servers(dir, paths, options.memoryLimit);
  const stop = async () => {
    await servers.stopAll();
    await removeFolder(dir);
  };
  try {
    progress('starting etcd');
    const credentials = await writeCredentials(dir, options.users ?? []);
    await startDatabase(servers, dir, signal);
    progress('starting the API server');
    const api = await startApiServer(servers, dir, credentials, signal);
    progress('starting controllers, scheduler and nodes');
    await startTheRest(servers, dir, api, credentials, options);
    const restartApiServer = async (graceMs = 10_000): Promise<void> => {
      await servers.stop('kube-apiserver', graceMs);
      await servers.start('kube-apiserver', apiServerArguments(dir, api.port), { ready: isReady(api), signal });
    };
    return {
      kubeconfigPath: await writeKubeconfig(join(dir, FILES.kubeconfig), api, tokenOf(credentials, ADMIN)),
      url: api.url,
      token: api.token,
      caData: Buffer.from(api.certificate).toString('base64'),
      dir,
      logs: servers.logs,
      broken: servers.broken,
      tokenOf: (user) => credentials.tokens.get(user),
      addUser: (user) => writeUserKubeconfig(dir, api.url, user),
      pids: () => servers.pids(),
      restartApiServer: ({ graceMs } = {}) => restartApiServer(graceMs),
      async changeVersion(version, { graceMs } = {}) {
        servers.replace(await ensureTools(KUBERNETES, { signal, version }));
        // As kubeadm does it: controllers are never newer than the API server.
        await Promise.all(CONTROLLERS.map((name) => servers.stop(name, 0)));
        await restartApiServer(graceMs);
        await startControllers(servers, dir, api, credentials, signal);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface ApiAddress {
  url: string;
  port: number;
  certificate: string;
  token: string;
}

const KUBERNETES = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
const CONTROLLERS = ['kube-controller-manager', 'kube-scheduler'] as const;
const OTHERS = ['etcd', 'kwok'] as const;

async function findServers(options: ControlPlaneOptions): Promise<Record<ServerName, string>> {
  const { kubernetesVersion: version, signal } = options;
  if (version === undefined) return ensureTools([...OTHERS, ...KUBERNETES], { signal });
  return { ...(await ensureTools(OTHERS, { signal })), ...(await ensureTools(KUBERNETES, { signal, version })) };
}

async function startDatabase(servers: Servers, dir: string, signal: AbortSignal | undefined): Promise<void> {
  const socket: Endpoint = { socketPath: etcdSocket(dir) };
  const ready = async () => (await ask(socket, '/health'))?.status === 200;
  await servers.start('etcd', etcdArguments(dir), { ready, signal });
}

/** Somebody may take the port between our look and the server's bind; then another one is tried. */
async function startApiServer(
  servers: Servers,
  dir: string,
  credentials: Credentials,
  signal: AbortSignal | undefined,
): Promise<ApiAddress> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const { certificate } = credentials;
    const api = { url: `https://127.0.0.1:${port}`, port, certificate, token: tokenOf(credentials, ADMIN) };
    try {
      await servers.start('kube-apiserver', apiServerArguments(dir, port), { ready: isReady(api), signal });
      return api;
    } catch (error) {
      const isTaken = isError(error, 'ProgramFailed') && error.message.includes('address already in use');
      if (!isTaken || attempt === PORT_TRIES) throw error;
    }
  }
}

async function startTheRest(
  servers: Servers,
  dir: string,
  api: ApiAddress,
  credentials: Credentials,
  { nodes: count = 3, signal }: ControlPlaneOptions,
): Promise<void> {
  const nodes = nodeObjects(count);
  const kubelets = {
    port: await freePort(),
    certificate: join(dir, FILES.serverCertificate),
    key: join(dir, FILES.serverKey),
  };
  await writePodLog(dir);
  await Promise.all([
    startControllers(servers, dir, api, credentials, signal),
    startAs(servers, dir, api, credentials, signal)('kwok', KWOK, (kubeconfig) => kwokArguments(kubeconfig, kubelets)),
    ...nodes.map((node) => ask(api, '/api/v1/nodes', { method: 'POST', body: node })),
  ]);
  const ended = servers.broken.then((name) => {
    throw new EspalierError('PlaygroundFailed', `${name} ended while starting; its log is in ${servers.logs}`);
  });
  const hint = `The logs are in ${servers.logs}`;
  const ready = waitFor('readiness for pods', () => takesPods(api, count), { timeoutMs: POD_TIMEOUT_MS, signal, hint });
  await Promise.race([ready, ended]);
}

async function startControllers(...parts: Parameters<typeof startAs>): Promise<void> {
  const [, dir] = parts;
  const start = startAs(...parts);
  await Promise.all([
    start('kube-controller-manager', CONTROLLER_MANAGER, (kubeconfig) => controllerManagerArguments(dir, kubeconfig)),
    start('kube-scheduler', SCHEDULER, schedulerArguments),
  ]);
}

/** Starts a server with a kubeconfig of its own. */
function startAs(
  servers: Servers,
  dir: string,
  api: ApiAddress,
  credentials: Credentials,
  signal: AbortSignal | undefined,
): (name: ServerName, user: string, argumentsFor: (kubeconfig: string) => string[]) => Promise<void> {
  return async (name, user, argumentsFor) => {
    const kubeconfig = await writeKubeconfig(join(dir, `${name}.kubeconfig`), api, tokenOf(credentials, user));
    await servers.start(name, argumentsFor(kubeconfig), { signal });
  };
}

function isReady(api: ApiAddress): () => Promise<boolean> {
  return async () => (await ask(api, '/readyz'))?.status === 200;
}

async function writeKubeconfig(path: string, api: ApiAddress, token: string): Promise<string> {
  await writeFile(path, kubeconfigFor(api, { token }), { mode: 0o600 });
  return path;
}

function tokenOf(credentials: Credentials, user: string): string {
  const token = credentials.tokens.get(user);
  if (token === undefined) throw new EspalierError('Internal', `no token was made for ${user}`);
  return token;
}
