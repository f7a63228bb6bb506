import assert from 'node:assert/strict';
import {
  createServer,
  type IncomingMessage,
  request as plainRequest,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { Agent, createServer as createTlsServer, request as tlsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { createCredentials } from '../../src/cluster/credentials.ts';
import { loadKubeconfig } from '../../src/cluster/kubeconfig.ts';
import { createAuthority } from '../../src/playground/authority.ts';
import { eventually } from './eventually.ts';

/** A request that came through. */
export interface SeenRequest {
  method: string;
  /** With its query. */
  path: string;
  /** 1, 2, 3… among the mutating requests; 0 for any other. Dry runs are not mutating. */
  mutation: number;
  body: string;
  /** The status that the client got: the API server's, or an injected one; 0 while there is none, or when it was cut off. */
  status: number;
  userAgent: string;
  groups: string[];
}

/** What the client gets instead of the API server's answer. */
export type Fault =
  | { status: number; headers?: Record<string, string>; body?: string }
  /** The connection is reset. */
  | 'reset'
  /** No answer, ever. */
  | 'hang'
  /** The answer breaks off in the middle. */
  | 'truncate';

/** Looks at a request; what it returns is injected. It may wait, or kill whoever sent it. */
export type Hook = (request: SeenRequest) => Fault | undefined | Promise<Fault | undefined>;

export interface HttpProxy {
  url: string;
  /** A kubeconfig, as text, that leads through the proxy with the credentials of the original. */
  kubeconfig: string;
  /** Everything seen so far, watches included. */
  readonly requests: SeenRequest[];
  /** Mutating requests so far. */
  readonly mutations: number;
  /** Called before a request goes to the API server. A fault keeps it from getting there. */
  before: Hook | undefined;
  /** Called when the API server has answered, before the client hears of it. */
  after: Hook | undefined;
  /** Forget the requests, and number mutations from 1 again. */
  reset(): void;
  close(): Promise<void>;
}

export interface HttpProxyOptions {
  /** Path of the kubeconfig to stand in front of. It must log in with a token. */
  kubeconfig: string;
  /** Serve TLS (HTTP/1.1 only) instead of plain HTTP. */
  tls?: boolean;
}

/** A handshake costs more than a request: what proxies of one process have open upstream, they share. */
const upstreams = new Map<string, Agent>();

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Stands between a client and the API server: sees, numbers, delays and breaks requests. Watches stream through. */
export async function startHttpProxy(options: HttpProxyOptions): Promise<HttpProxy> {
  const config = loadKubeconfig({ path: options.kubeconfig });
  const credentials = createCredentials(config, { allowExec: false });
  const upstream = new URL(config.server);
  const { ca, cert, key } = await credentials.tls();
  const agent =
    upstreams.get(options.kubeconfig) ??
    new Agent({ keepAlive: true, ca, cert, key, rejectUnauthorized: config.insecure !== true });
  upstreams.set(options.kubeconfig, agent);
  const sockets = new Set<Socket>();
  let requests: SeenRequest[] = [];
  let mutations = 0;

  const listener: RequestListener = (incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  };
  const authority = options.tls === true ? createAuthority('proxy') : undefined;
  const pair = authority?.issue({ commonName: 'proxy', hosts: ['127.0.0.1'] });
  const server =
    pair === undefined ? createServer(listener) : createTlsServer({ cert: pair.certificate, key: pair.key }, listener);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  const url = `${pair === undefined ? 'http' : 'https'}://127.0.0.1:${address.port}`;

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const seen = see(incoming, body.toString('utf8'));
    const refused = await proxy.before?.(seen);
    if (refused) return inject(refused, seen, outgoing);
    const answer = await forward(incoming, body, outgoing);
    const watches = /[?&]watch=(1|true)/.test(seen.path);
    const whole = watches ? undefined : await buffer(answer);
    const spoilt = await proxy.after?.(seen);
    if (spoilt) return inject(spoilt, seen, outgoing, answer, whole);
    seen.status = answer.statusCode ?? 0;
    outgoing.writeHead(seen.status, answer.rawHeaders);
    if (whole !== undefined) return void outgoing.end(whole);
    outgoing.flushHeaders();
    answer.pipe(outgoing);
    answer.on('error', () => outgoing.destroy());
  }

  function see(incoming: IncomingMessage, body: string): SeenRequest {
    const { method = 'GET', url: path = '/' } = incoming;
    const mutates = !READING.has(method) && !/[?&]dryRun=/.test(path) && !body.includes('"dryRun":["All"]');
    const groups = incoming.rawHeaders.filter(
      (_, at, all) => at % 2 === 1 && all[at - 1]?.toLowerCase() === 'impersonate-group',
    );
    const seen = {
      method,
      path,
      mutation: mutates ? ++mutations : 0,
      body,
      status: 0,
      userAgent: incoming.headers['user-agent'] ?? '',
      groups,
    };
    requests.push(seen);
    return seen;
  }

  function forward(incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const send = upstream.protocol === 'https:' ? tlsRequest : plainRequest;
      const request = send(
        new URL(incoming.url ?? '/', upstream),
        { method: incoming.method, headers: headersFor(incoming), ...(send === tlsRequest ? { agent } : {}) },
        resolve,
      );
      request.on('error', reject);
      outgoing.on('close', () => request.destroy());
      request.end(body);
    });
  }

  function headersFor(incoming: IncomingMessage): string[] {
    return incoming.rawHeaders.flatMap((value, at, all) => {
      const name = (at % 2 === 0 ? value : all[at - 1])?.toLowerCase();
      return name === 'host' ? [at % 2 === 0 ? value : upstream.host] : [value];
    });
  }

  function inject(
    fault: Fault,
    seen: SeenRequest,
    outgoing: ServerResponse,
    answer?: IncomingMessage,
    whole?: Buffer,
  ): void {
    if (fault === 'hang') return;
    if (fault === 'reset') return void outgoing.socket?.resetAndDestroy();
    if (fault === 'truncate') {
      outgoing.writeHead(answer?.statusCode ?? 200, answer?.rawHeaders ?? ['content-type', 'application/json']);
      outgoing.write((whole ?? Buffer.from('{"kind":')).subarray(0, Math.ceil((whole?.length ?? 16) / 2)), () =>
        outgoing.destroy(),
      );
      return;
    }
    seen.status = fault.status;
    outgoing.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers });
    outgoing.end(fault.body ?? statusBody(fault.status));
  }

  const proxy: HttpProxy = {
    url,
    kubeconfig: kubeconfigText(url, (await credentials.authorization()) ?? '', authority?.certificate),
    get requests() {
      return requests;
    },
    get mutations() {
      return mutations;
    },
    before: undefined,
    after: undefined,
    reset() {
      requests = [];
      mutations = 0;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

/** Waits until nothing was written for a second: what was still on its way when something was reached has passed then. */
export async function untilQuiet(proxy: Pick<HttpProxy, 'requests'>): Promise<void> {
  const writes = () => proxy.requests.filter(({ mutation, path }) => mutation > 0 && !path.includes('/leases')).length;
  await eventually(async () => {
    const before = writes();
    await delay(1_000);
    assert.equal(writes(), before);
  });
}

/** What the API server itself would say with this status. */
function statusBody(code: number): string {
  const reasons: Record<number, string> = {
    409: 'Conflict',
    410: 'Expired',
    429: 'TooManyRequests',
    500: 'InternalError',
    503: 'ServiceUnavailable',
    504: 'Timeout',
  };
  const reason = reasons[code] ?? '';
  return JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message: `injected ${code}`,
    reason,
    code,
  });
}

function kubeconfigText(server: string, authorization: string, ca: string | undefined): string {
  const cluster = {
    server,
    ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
  };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'proxy',
    clusters: [{ name: 'proxy', cluster }],
    users: [{ name: 'proxy', user: { token: authorization.replace(/^Bearer /, '') } }],
    contexts: [{ name: 'proxy', context: { cluster: 'proxy', user: 'proxy', namespace: 'default' } }],
  });
}
