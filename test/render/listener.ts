import { once } from 'node:events';
import { createServer } from 'node:net';
import type { TestContext } from 'node:test';

export interface Listener {
  /** `http://127.0.0.1:…` */
  url: string;
  port: number;
  /** Connections so far, whatever was said in them. */
  connections(): number;
}

/** A server that answers nothing and counts who comes. */
export async function listener(t: Pick<TestContext, 'after'>): Promise<Listener> {
  let count = 0;
  const server = createServer((socket) => {
    count++;
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, port, connections: () => count };
}
