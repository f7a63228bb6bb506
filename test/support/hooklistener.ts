import { createServer } from 'node:http';
import type { TestContext } from 'node:test';

export interface DeliveredHook {
  path: string;
  headers: Headers;
  /** As it was sent, to the byte. */
  body: Buffer;
}

export interface HookListener {
  url: string;
  /** In the order in which they came. */
  hooks: readonly DeliveredHook[];
  /** What senders are answered from now on. Default: 202. */
  status: number;
}

/** Takes what a forge delivers, on 127.0.0.1, until the test ends. */
export async function hookListener(t: Pick<TestContext, 'after'>): Promise<HookListener> {
  const hooks: DeliveredHook[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const headers = new Headers();
    for (const [name, values] of Object.entries(request.headersDistinct))
      for (const value of values ?? []) headers.append(name, value);
    hooks.push({ path: request.url ?? '/', headers, body: Buffer.concat(parts) });
    response.writeHead(listener.status).end();
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const listener: HookListener = { url: `http://127.0.0.1:${port}`, hooks, status: 202 };
  return listener;
}
