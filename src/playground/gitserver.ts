import { mkdir } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Authority } from './authority.ts';
import { challengeFor, type GitAccess, mayUse } from './gitaccess.ts';
import { answerByGit, type GitAnswer } from './gitbackend.ts';
import { actOut, type GitFault } from './gitfault.ts';
import { initRepository, type RefChange, readRefs, refChanges, seedRepository } from './gitrepository.ts';
import { type GitRoute, type GitService, routeOf } from './gitroute.ts';

export interface GitServerOptions {
  /** An empty folder for the repositories; it stays when the server stops. */
  root: string;
  /** Serves HTTPS with a certificate of this authority. */
  authority?: Authority;
  /** One exchange with Git may take this long. */
  timeoutMs?: number;
}

export interface ServedRepository {
  name: string;
  url: string;
  /** The bare repository. */
  folder: string;
  /** The first commit, when it was seeded. */
  commit?: string;
}

export interface GitRequest {
  at: number;
  method: string;
  target: string;
  /** Absent when it was no request of smart HTTP. */
  repository?: string;
  service?: GitService;
  step?: GitRoute['step'];
  status: number;
}

export interface Push {
  repository: string;
  changes: RefChange[];
}

export interface Misbehaviour {
  fault: GitFault;
  repository?: string;
  service?: GitService;
  step?: GitRoute['step'];
  /** How many requests it strikes. Default: all until healed. */
  times?: number;
}

/** A real Git server on 127.0.0.1, smart HTTP alone, that takes every kind of push. */
export interface GitServer {
  url: string;
  createRepository(
    name: string,
    options?: { seed?: string; replace?: Readonly<Record<string, string>>; access?: GitAccess },
  ): Promise<ServedRepository>;
  setAccess(name: string, access: GitAccess): void;
  /** Every request answered so far, refused and broken ones included. */
  requests: readonly GitRequest[];
  /** Strikes matching requests with a fault; the returned function heals it. */
  misbehave(misbehaviour: Misbehaviour): () => void;
  /** Called after a push that changed refs; the returned function ends it. */
  onPush(listener: (push: Push) => void): () => void;
  stop(): Promise<void>;
}

interface Repository extends ServedRepository {
  access: GitAccess;
  refs: Map<string, string>;
  /** What Git says that it can do, to who speaks its protocol 2: always the same, and a third of all processes. */
  abilities?: GitAnswer;
  /** Ends when the last push has been told; the next waits for it, so that changes come in order. */
  told: Promise<void>;
}

const TIMEOUT_MS = 120_000;

export async function startGitServer(options: GitServerOptions): Promise<GitServer> {
  const { root, authority, timeoutMs = TIMEOUT_MS } = options;
  await mkdir(root, { recursive: true, mode: 0o700 });
  const repositories = new Map<string, Repository>();
  const requests: GitRequest[] = [];
  const listeners = new Set<(push: Push) => void>();
  const faults = new Set<Misbehaviour>();
  const stopping = new AbortController();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [method, target] = [request.method ?? '', request.url ?? ''];
    const route = routeOf(method, target);
    response.once('close', () =>
      requests.push({ at: Date.now(), method, target, ...route, status: response.statusCode }),
    );
    const fault = strike(faults, route);
    if (fault !== undefined && !(await actOut(fault, response))) return;
    const repository = route === undefined ? undefined : repositories.get(route.repository);
    if (route === undefined || repository === undefined) return refuse(response, 404, 'no such repository');
    const action = route.service === 'git-receive-pack' ? 'write' : 'read';
    if (!mayUse(repository.access, request.headers.authorization, action)) {
      response.setHeader('www-authenticate', challengeFor(repository.access));
      return refuse(response, 401, 'credentials are needed');
    }
    const last = route.step === 'refs' ? 'info/refs' : route.service;
    const path = `/${repository.name}.git/${last}`;
    const asksAbilities = last === 'info/refs' && action === 'read' && request.headers['git-protocol'] === 'version=2';
    if (asksAbilities && repository.abilities !== undefined) {
      response.writeHead(200, repository.abilities.headers).end(repository.abilities.body);
      return;
    }
    const heard = (answer: GitAnswer): void => {
      repository.abilities = answer;
    };
    const options = { root, path, timeoutMs, signal: stopping.signal };
    await answerByGit(request, response, { ...options, heard: asksAbilities ? heard : undefined });
    if (action === 'write' && route.step === 'exchange') {
      repository.told = repository.told.then(() => tell(repository));
      await repository.told;
    }
  }

  async function tell(repository: Repository): Promise<void> {
    const now = await readRefs(repository.folder);
    const changes = refChanges(repository.refs, now);
    repository.refs = now;
    if (changes.length === 0) return;
    for (const listener of listeners) listener({ repository: repository.name, changes });
  }

  const handle = (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch(() => response.destroy());
  };
  const server = authority === undefined ? createHttpServer(handle) : createHttpsServer(serverPair(authority), handle);
  server.requestTimeout = 0; // a push may take long; the child's deadline bounds it
  const port = await listen(server);
  const url = `${authority === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;

  return {
    url,
    requests,
    async createRepository(name, { seed, replace, access = {} } = {}) {
      const folder = await initRepository(root, name);
      const commit = seed === undefined ? undefined : await seedRepository(folder, seed, replace);
      const served: ServedRepository = {
        name,
        url: `${url}/${name}.git`,
        folder,
        ...(commit !== undefined && { commit }),
      };
      repositories.set(name, {
        ...served,
        access,
        refs: commit === undefined ? new Map() : await readRefs(folder),
        told: Promise.resolve(),
      });
      return served;
    },
    setAccess(name, access) {
      const repository = repositories.get(name);
      if (repository !== undefined) repository.access = access;
    },
    misbehave(misbehaviour) {
      const own = { ...misbehaviour };
      faults.add(own);
      return () => faults.delete(own);
    },
    onPush(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async stop() {
      stopping.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function strike(faults: Set<Misbehaviour>, route: GitRoute | undefined): GitFault | undefined {
  for (const one of faults) {
    const matches = (['repository', 'service', 'step'] as const).every(
      (key) => one[key] === undefined || one[key] === route?.[key],
    );
    if (!matches) continue;
    if (one.times !== undefined) {
      one.times--;
      if (one.times <= 0) faults.delete(one);
    }
    return one.fault;
  }
  return undefined;
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(`${message}\n`);
}

function serverPair(authority: Authority): { cert: string; key: string } {
  const pair = authority.issue({ commonName: 'git', hosts: ['127.0.0.1', 'localhost'] });
  return { cert: pair.certificate, key: pair.key };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
