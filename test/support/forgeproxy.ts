import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A request as it passed, and what became of it. */
export interface PassedRequest {
  method: string;
  /** With its query. */
  path: string;
  headers: Headers;
  body: string;
  /** When it came, by `performance.now()`. */
  at: number;
  /** The status that the sender got; 0 while there is none, or when it never gets one. */
  status: number;
  /** When the sender was answered. */
  answeredAt: number;
}

/** What the sender gets instead of an answer. */
export type InsteadOfAnswer =
  | { status: number; headers?: Record<string, string>; body?: string }
  /** No answer, ever. */
  | 'hang'
  /** The connection is reset. */
  | 'reset';

export interface ForgeProxy {
  url: string;
  /** Oldest first. */
  readonly requests: readonly PassedRequest[];
  /** Asked before a request is passed on: what it answers keeps the request from getting there. */
  before: ((request: PassedRequest) => InsteadOfAnswer | undefined) | undefined;
  /** Asked when there is an answer that the sender has not heard yet. */
  after: ((request: PassedRequest) => InsteadOfAnswer | undefined) | undefined;
  /** What is passed on from now on is passed on to here. */
  target: string;
  /** Forgets the requests so far. */
  reset(): void;
  close(): Promise<void>;
}

/** Headers that are about one connection, not about what is said over it. */
const OF_A_CONNECTION = new Set(['host', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'expect']);

/** Stands between a forge and the agent, either way round, on 127.0.0.1: sees, times and breaks what they say to each other. */
export async function startForgeProxy(target: string): Promise<ForgeProxy> {
  let requests: PassedRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const at = performance.now();
    const bytes = await buffer(incoming);
    const { method = 'GET', url: path = '/' } = incoming;
    const headers = headersOf(incoming);
    const seen = { method, path, headers, body: bytes.toString('utf8'), at, status: 0, answeredAt: 0 };
    requests.push(seen);
    const refused = proxy.before?.(seen);
    if (refused !== undefined) return instead(refused, seen, outgoing);
    const answer = await fetch(`${proxy.target}${path}`, {
      method,
      redirect: 'manual',
      headers,
      ...(bytes.length === 0 ? {} : { body: new Uint8Array(bytes) }),
    });
    const body = Buffer.from(await answer.arrayBuffer());
    const lost = proxy.after?.(seen);
    if (lost !== undefined) return instead(lost, seen, outgoing);
    const told = [...answer.headers].filter(([name]) => !OF_A_CONNECTION.has(name) && name !== 'content-encoding');
    finish(seen, outgoing, answer.status, Object.fromEntries(told), body);
  }

  const proxy: ForgeProxy = {
    url: `http://127.0.0.1:${port}`,
    get requests() {
      return requests;
    },
    before: undefined,
    after: undefined,
    target,
    reset() {
      requests = [];
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return proxy;
}

function instead(fault: InsteadOfAnswer, seen: PassedRequest, outgoing: ServerResponse): void {
  if (fault === 'hang') return;
  if (fault === 'reset') return void outgoing.socket?.resetAndDestroy();
  const { status, headers = {}, body = JSON.stringify({ message: `injected ${status}` }) } = fault;
  finish(seen, outgoing, status, { 'content-type': 'application/json', ...headers }, Buffer.from(body));
}

function finish(
  seen: PassedRequest,
  outgoing: ServerResponse,
  status: number,
  headers: Record<string, string>,
  body: Buffer,
): void {
  Object.assign(seen, { status, answeredAt: performance.now() });
  outgoing.writeHead(status, headers).end(body);
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(headersDistinct))
    if (!OF_A_CONNECTION.has(name)) for (const value of values ?? []) headers.append(name, value);
  return headers;
}
