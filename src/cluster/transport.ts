import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { Client, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { createConnector, trustOptions } from './connect.ts';
import type { Credentials } from './credentials.ts';
import { type Answer, type Call, ExchangeFailure, exchange, type Sink } from './exchange.ts';
import type { ClusterConfig } from './kubeconfig.ts';
import { proxyFor } from './proxy.ts';

/**
 * Who shares connections with whom. Requests go over HTTP/1.1 keep-alive, which was as fast as HTTP/2 and lets no
 * request starve another; watches share HTTP/2 connections of their own, or have one each where there is no HTTP/2.
 */
export type Lane = 'bulk' | 'urgent' | 'watch' | 'watch-single';

export interface Transport {
  send(lane: Lane, call: Call, sink?: Sink): Promise<Answer>;
  /** Whether watches share connections whose death is noticed by pings. Known after the first watch connection. */
  sharesWatches(): boolean;
  close(): Promise<void>;
}

export interface TransportOptions {
  connections: number;
  /** An HTTP/2 connection that has answered nothing for two of these is dead. */
  pingMs: number;
}

const REQUEST_LANES: readonly Lane[] = ['bulk', 'urgent'];
const IDLE_CONNECTION_MS = 30_000;
const URGENT_CONNECTIONS = 2;
/** The API server allows 100 to 250 streams a connection; a stream beyond its bound would hang unseen. */
const STREAMS_PER_CONNECTION = 80;

export function createTransport(config: ClusterConfig, credentials: Credentials, options: TransportOptions): Transport {
  const { origin } = new URL(config.server);
  const proxy = proxyFor(config, process.env);
  const lanes = new Map<Lane, Promise<Dispatcher>>();
  let shares = proxy === undefined && origin.startsWith('https:');
  let closed = false;

  async function open(lane: Lane): Promise<Dispatcher> {
    const pooling = {
      connections: lane === 'bulk' ? options.connections : lane === 'urgent' ? URGENT_CONNECTIONS : null,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      keepAliveMaxTimeout: IDLE_CONNECTION_MS,
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    if (proxy !== undefined) {
      const requestTls = { ...trustOptions(config), ...(await credentials.tls()), allowH2: false };
      return new ProxyAgent({ ...pooling, uri: proxy, requestTls, allowH2: false });
    }
    if (lane !== 'watch') {
      return new Pool(origin, {
        ...pooling,
        allowH2: false,
        connect: createConnector(config, credentials, { http2: false }),
      });
    }
    const connect = createConnector(config, credentials, { http2: true });
    return new Pool(origin, {
      ...pooling,
      connect,
      factory: (target) =>
        new Client(target, {
          keepAliveTimeout: IDLE_CONNECTION_MS,
          headersTimeout: 0,
          bodyTimeout: 0,
          h2Options: { pingInterval: options.pingMs, maxConcurrentStreams: STREAMS_PER_CONNECTION },
          connect: (connection, callback) =>
            connect(connection, (...[error, socket]) => {
              if (error !== null) return callback(error, null);
              shares = isHttp2(socket);
              if (shares) closeWhenSilent(socket, options.pingMs, renew);
              callback(null, socket);
            }),
        }),
    });
  }

  function dispatcher(lane: Lane): Promise<Dispatcher> {
    if (closed) return Promise.reject(new Error('the client is closed'));
    let opening = lanes.get(lane);
    if (opening === undefined) {
      opening = open(lane);
      opening.catch(() => lanes.delete(lane));
      lanes.set(lane, opening);
    }
    return opening;
  }

  /**
   * A path that lost one connection has lost the idle ones beside it too, and each would cost a request its whole
   * deadline: from now on requests get new ones. What is under way may end on the old ones.
   */
  function renew(): void {
    for (const lane of REQUEST_LANES) {
      void lanes.get(lane)?.then((old) => old.close(), ignore);
      lanes.delete(lane);
    }
  }

  return {
    async send(lane, call, sink) {
      try {
        return await exchange(await dispatcher(lane), origin, call, sink);
      } catch (error) {
        if (error instanceof ExchangeFailure && error.kind === 'timeout') renew();
        throw error;
      }
    },
    sharesWatches: () => shares,
    async close() {
      closed = true;
      const open = await Promise.allSettled(lanes.values());
      await Promise.all(open.map((lane) => (lane.status === 'fulfilled' ? lane.value.destroy() : undefined)));
    },
  };
}

function ignore(): void {}

function isHttp2(socket: Socket): boolean {
  return socket instanceof TLSSocket && socket.alpnProtocol === 'h2';
}

/**
 * undici pings, but waits for the answer for ever. A live peer's answers move `bytesRead` in every interval, whether or
 * not a watch has news; a peer behind a frozen or forgotten path leaves it where it is, though TCP itself may look well.
 */
function closeWhenSilent(socket: Socket, pingMs: number, onSilent: () => void): void {
  let seen = socket.bytesRead;
  let silent = 0;
  const timer = setInterval(() => {
    silent = socket.bytesRead === seen ? silent + 1 : 0;
    seen = socket.bytesRead;
    if (silent < 2) return;
    onSilent();
    socket.destroy(new Error(`no answer to HTTP/2 pings for ${silent * pingMs} ms`));
  }, pingMs);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
}
