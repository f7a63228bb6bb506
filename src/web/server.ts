import { serve } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';

const HOOK_BODY_LIMIT = 10 * 1024 * 1024;
/** Whoever takes longer to send a request is cut off. */
const REQUEST_TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 16 * 1024;

export interface HookVerdict {
  status: 202 | 401 | 404;
  text: string;
}

export interface WebOptions {
  host: string;
  port: number;
  requestTimeoutMs?: number;
  /** Alive: the process is not stuck. */
  healthy(): boolean;
  /** Ready: caches are filled, or another replica leads. */
  ready(): { ready: boolean; why: string };
  metrics(): Promise<{ contentType: string; text: string }>;
  /** How a Sync is, as plain text; undefined when there is no such Sync here. */
  syncPage(namespace: string, name: string): string | undefined;
  /** A webhook for a Sync: raw body and headers; the answer is given before anything is done about it. */
  hook(namespace: string, name: string, headers: Headers, body: Uint8Array): HookVerdict;
}

export interface WebServer {
  url: string;
  port: number;
  close(): Promise<void>;
}

/** Everything that the agent says over HTTP. Nothing here waits for the cluster or for Git. */
export async function startWeb(options: WebOptions): Promise<WebServer> {
  const app = routes(options);
  return await new Promise((resolve, reject) => {
    const requestTimeout = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
    // Node itself looks at slow connections every 30 s only.
    const slow = { requestTimeout, headersTimeout: requestTimeout, connectionsCheckingInterval: requestTimeout / 2 };
    const serverOptions = { ...slow, maxHeaderSize: MAX_HEADER_BYTES };
    const server = serve({ fetch: app.fetch, hostname: options.host, port: options.port, serverOptions }, (address) => {
      resolve({
        url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
        port: address.port,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            if ('closeAllConnections' in server) server.closeAllConnections();
          }),
      });
    });
    if ('maxHeadersCount' in server) server.maxHeadersCount = 100;
    server.once('error', reject);
  });
}

export function routes(options: Omit<WebOptions, 'host' | 'port' | 'requestTimeoutMs'>): Hono {
  const app = new Hono();
  app.get('/healthz', (c) => (options.healthy() ? c.text('ok\n') : c.text('stuck\n', 503)));
  app.get('/readyz', (c) => {
    const { ready, why } = options.ready();
    return ready ? c.text('ok\n') : c.text(`${why}\n`, 503);
  });
  app.get('/metrics', async (c) => {
    const { contentType, text } = await options.metrics();
    return c.body(text, 200, { 'content-type': contentType });
  });
  app.get('/syncs/:namespace/:name', (c) =>
    plainText(c, options.syncPage(c.req.param('namespace'), c.req.param('name'))),
  );
  app.post(
    '/hooks/:namespace/:name',
    bodyLimit({ maxSize: HOOK_BODY_LIMIT, onError: (c) => c.text('the body is larger than 10 MiB\n', 413) }),
    async (c) => {
      const body = new Uint8Array(await c.req.arrayBuffer());
      const verdict = options.hook(c.req.param('namespace'), c.req.param('name'), c.req.raw.headers, body);
      return c.text(`${verdict.text}\n`, verdict.status);
    },
  );
  app.notFound((c) => c.text('not found\n', 404));
  app.onError((_, c) => c.text('the request could not be read\n', 400));
  return app;
}

/** Nothing in it is markup, whatever a browser may think of it. */
function plainText(c: Context, text: string | undefined): Response {
  if (text === undefined) return c.text('not found\n', 404);
  return c.text(text, 200, { 'x-content-type-options': 'nosniff', 'content-security-policy': "default-src 'none'" });
}
