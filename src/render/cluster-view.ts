import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { KubeObject } from '../api/index.ts';

export interface ViewAnswer {
  status: number;
  body: string;
}

/** Reads a path of the API server, query included. */
export type ReadPath = (path: string, accept: string) => Promise<ViewAnswer>;

/** What one rendering may see of the cluster. */
export interface ViewSession {
  /** What the cluster serves; with the agent's rights, as everybody may ask for that. */
  discovery: ReadPath;
  /** Objects that templates look up, with the rights of the Plugin's account; undefined: nothing is there. */
  objects: ReadPath | undefined;
  release: { name: string; namespace: string };
  /** What Helm takes for the records of the release so far. */
  records: readonly KubeObject[];
}

/** The object that the capturing post-renderer prints, so that Helm has something to go on with. It is nowhere. */
export const STAND_IN = 'espalier-stand-in';

/**
 * A read-only API server on loopback for Helm to render against. Helm gets no credentials: it sees what the session
 * shows, and every write is refused. Each session has a path that nobody can guess.
 */
export class ClusterView {
  readonly #sessions = new Map<string, ViewSession>();
  #server: Promise<Server> | undefined;

  async open(session: ViewSession): Promise<{ kubeconfig: string; close(): void }> {
    this.#server ??= listen((request, response) => void this.#serve(request, response));
    const { port } = (await this.#server).address() as AddressInfo;
    const token = randomBytes(24).toString('base64url');
    this.#sessions.set(token, session);
    const kubeconfig = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'view', cluster: { server: `http://127.0.0.1:${port}/${token}` } }],
      users: [{ name: 'view', user: {} }],
      contexts: [{ name: 'view', context: { cluster: 'view', user: 'view' } }],
      'current-context': 'view',
    });
    return { kubeconfig, close: () => void this.#sessions.delete(token) };
  }

  async close(): Promise<void> {
    const server = await this.#server;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume();
    const [, token = '', path = ''] = /^\/([^/]+)(\/.*)$/.exec(request.url ?? '') ?? [];
    const session = this.#sessions.get(token);
    const answer =
      session === undefined
        ? notFound()
        : request.method === 'GET'
          ? await see(session, path, request.headers.accept ?? '').catch(() => failure(502, 'BadGateway'))
          : failure(405, 'MethodNotAllowed');
    const type =
      answer.status < 300 && isAggregated(path) ? aggregatedType(request.headers.accept, answer) : 'application/json';
    response.writeHead(answer.status, { 'content-type': type }).end(answer.body);
  }
}

async function see(session: ViewSession, path: string, accept: string): Promise<ViewAnswer> {
  const url = new URL(path, 'http://view');
  if (/^\/(version|api|apis|api\/[^/]+|apis\/[^/]+(\/[^/]+)?)$/.test(url.pathname))
    return await session.discovery(path, accept);
  const { name, namespace } = session.release;
  const selector = url.searchParams.get('labelSelector') ?? '';
  if (url.pathname === `/api/v1/namespaces/${namespace}/secrets` && selector.includes('owner=helm')) {
    const items = selector.includes(`name=${name}`) ? session.records : [];
    return { status: 200, body: JSON.stringify({ apiVersion: 'v1', kind: 'SecretList', metadata: {}, items }) };
  }
  if (session.objects === undefined || url.pathname.endsWith(`/configmaps/${STAND_IN}`)) return notFound();
  if (url.searchParams.has('watch')) return failure(405, 'MethodNotAllowed');
  return await session.objects(path, 'application/json');
}

function isAggregated(path: string): boolean {
  return /^\/apis?(\?|$)/.test(path);
}

/** Clients tell the two forms of discovery apart by the type of the answer. */
function aggregatedType(accept: string | undefined, { body }: ViewAnswer): string {
  const isWhole = body.startsWith('{"kind":"APIGroupDiscoveryList"');
  const [asked = ''] = (accept ?? '').split(',');
  return isWhole && asked.includes('as=APIGroupDiscoveryList') ? asked : 'application/json';
}

function notFound(): ViewAnswer {
  return failure(404, 'NotFound');
}

function failure(code: number, reason: string): ViewAnswer {
  const message = `not part of what a rendering may see (${reason})`;
  return {
    status: code,
    body: JSON.stringify({ apiVersion: 'v1', kind: 'Status', status: 'Failure', reason, code, message }),
  };
}

function listen(serve: (request: IncomingMessage, response: ServerResponse) => void): Promise<Server> {
  const server = createServer(serve);
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}
