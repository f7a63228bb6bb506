import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { KeyPair } from '../../../src/playground/authority.ts';

export interface Seen {
  method: string;
  /** Without its query, decoded only where the client encoded nothing. */
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  /** Its JSON. */
  body: Record<string, unknown>;
}

export interface Reply {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** What a client gets instead of the forge's answer. */
export type Fault = Reply | 'hang' | 'reset' | 'html';

export type Route = [method: string, path: RegExp, answer: (seen: Seen, parts: string[]) => Reply];

export interface FakeServer {
  /** `http://127.0.0.1:40123`. */
  url: string;
  port: number;
  requests: Seen[];
  /** Looks at each request first; what it returns is answered instead. */
  fault: ((seen: Seen) => Fault | undefined) | undefined;
  close(): Promise<void>;
}

export interface FakeOptions {
  routes: Route[];
  /** Undefined when the login is good. */
  refuse(seen: Seen): Reply | undefined;
  /** On every answer. */
  headers?: () => Record<string, string>;
  notFound: Reply;
  tls?: KeyPair;
}

/** An HTTP server that answers by a table of routes, as a forge's documentation says. */
export async function startFake(options: FakeOptions): Promise<FakeServer> {
  const sockets = new Set<Socket>();
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  };
  const { tls } = options;
  const server =
    tls === undefined ? createServer(listener) : createTlsServer({ cert: tls.certificate, key: tls.key }, listener);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const text = (await buffer(incoming)).toString('utf8');
    const url = new URL(incoming.url ?? '/', 'http://forge');
    const seen: Seen = {
      method: incoming.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      headers: incoming.headers,
      body: text === '' ? {} : JSON.parse(text),
    };
    fake.requests.push(seen);
    const fault = fake.fault?.(seen);
    if (fault === 'hang') return;
    if (fault === 'reset') return void incoming.socket.resetAndDestroy();
    if (fault === 'html') {
      outgoing.writeHead(200, { 'content-type': 'text/html' });
      return void outgoing.end('<!doctype html><title>Sign in</title>');
    }
    const reply = fault ?? options.refuse(seen) ?? route(seen) ?? options.notFound;
    outgoing.writeHead(reply.status, {
      'content-type': 'application/json',
      ...options.headers?.(),
      ...reply.headers,
    });
    outgoing.end(reply.body === undefined ? undefined : JSON.stringify(reply.body));
  }

  function route(seen: Seen): Reply | undefined {
    for (const [method, path, answer] of options.routes) {
      const match = method === seen.method ? path.exec(seen.path) : null;
      if (match !== null) return answer(seen, match.slice(1).map(decodeURIComponent));
    }
    return undefined;
  }

  const fake: FakeServer = {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    requests: [],
    fault: undefined,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return fake;
}

/** One page of a list, and how the next one is asked for. */
export function pageOf<T>(all: readonly T[], seen: Seen, size: string): { items: T[]; next: number | undefined } {
  const page = Number(seen.query.get('page') ?? 1);
  const most = Math.min(Number(seen.query.get(size) ?? 20), 100);
  const items = all.slice((page - 1) * most, page * most);
  return { items, next: page * most < all.length ? page + 1 : undefined };
}

/** A list with a Link header; its address is one that only the forge itself believes in. */
export function linked<T>(all: readonly T[], seen: Seen, size: string, wrap?: (items: T[]) => unknown): Reply {
  const { items, next } = pageOf(all, seen, size);
  const query = new URLSearchParams(seen.query);
  if (next !== undefined) query.set('page', String(next));
  const link = next === undefined ? '' : `<https://public.example.com${seen.path}?${query}>; rel="next"`;
  return { status: 200, body: wrap?.(items) ?? items, ...(link === '' ? {} : { headers: { link } }) };
}
