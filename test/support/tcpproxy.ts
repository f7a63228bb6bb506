import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that can break connections in the ways networks do. */
export interface TcpProxy {
  port: number;
  /** Connections taken since the start. */
  readonly taken: number;
  readonly open: number;
  /** Resets every open connection; new ones work. */
  drop(): void;
  /**
   * Half-open: connections stay up, and the kernel still acknowledges, but no byte goes through either way. New
   * connections pass, unless `new` is given: then they hang too.
   */
  freeze(options?: { new?: boolean }): void;
  /** New connections pass again. Frozen ones stay frozen: what a network forgot does not come back. */
  thaw(): void;
  /** Holds each chunk back for this long. */
  delay(ms: number): void;
  close(): Promise<void>;
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const pairs = new Set<{ near: Socket; far: Socket; frozen: boolean }>();
  const sockets = new Set<Socket>();
  let taken = 0;
  let freezeNew = false;
  let delayMs = 0;

  const server = createServer((near) => {
    taken++;
    const far = connect(target.port, target.host);
    const pair = { near, far, frozen: freezeNew };
    pairs.add(pair);
    const forget = () => {
      pairs.delete(pair);
      // A network that lost the connection does not tell the other side either.
      if (!pair.frozen) for (const socket of [near, far]) socket.destroy();
    };
    for (const socket of [near, far]) sockets.add(socket.once('close', () => sockets.delete(socket)));
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (chunk) => {
        if (pair.frozen) return;
        if (delayMs === 0) to.write(chunk);
        else setTimeout(() => !to.destroyed && to.write(chunk), delayMs);
      });
      from.on('error', forget);
      from.on('close', forget);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');

  return {
    port: address.port,
    get taken() {
      return taken;
    },
    get open() {
      return pairs.size;
    },
    drop() {
      for (const { near, far } of pairs) {
        near.resetAndDestroy();
        far.destroy();
      }
    },
    freeze(options = {}) {
      freezeNew = options.new === true;
      for (const pair of pairs) pair.frozen = true;
    },
    thaw() {
      freezeNew = false;
    },
    delay(ms) {
      delayMs = ms;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
