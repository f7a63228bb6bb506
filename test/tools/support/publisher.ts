import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Server } from 'node:net';
import type { TestContext } from 'node:test';

type Answer = string | Buffer | ((request: IncomingMessage, response: ServerResponse) => void);

export interface Publisher {
  /** What it answers, by path. All else is 404. May be changed at any time. */
  files: Map<string, Answer>;
  /** The paths that were asked for, in order. */
  asked: string[];
  /** Leads every URL of `https://publisher.test` here. */
  rewriteUrl(url: URL): URL;
}

/** A real HTTP server on this machine that offers files as a publisher does. */
export async function publisher(t: TestContext): Promise<Publisher> {
  const files = new Map<string, Answer>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const answer = files.get(path);
    if (typeof answer === 'function') answer(request, response);
    else response.writeHead(answer === undefined ? 404 : 200).end(answer);
  });
  const port = await listening(t, server);
  return { files, asked, rewriteUrl: (url) => new URL(`http://127.0.0.1:${port}${url.pathname}`) };
}

/** A server that takes connections and hangs up, or says nothing at all. */
export async function rudeServer(t: TestContext, manner: 'hangs up' | 'is silent') {
  let connections = 0;
  const server = createTcpServer((socket) => {
    connections++;
    socket.on('error', () => {});
    t.after(() => socket.destroy());
    if (manner === 'hangs up') socket.destroy();
  });
  const port = await listening(t, server);
  const rewriteUrl = (url: URL) => new URL(`http://127.0.0.1:${port}${url.pathname}`);
  return { port, rewriteUrl, connections: () => connections };
}

export function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

async function listening(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
