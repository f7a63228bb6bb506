import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface Website {
  /** Without a slash at its end. */
  url: string;
  port: number;
  /** What lies where; an ETag is made of each. */
  files: Map<string, Buffer>;
  /** `GET /index.yaml 200`, in order. */
  requests: string[];
  /** The Authorization header of each request. */
  logins: (string | undefined)[];
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  close(): Promise<void>;
}

/** A web server with files in memory, as a repository of charts is one. */
export async function startWebsite(
  options: {
    tls?: { key: string; cert: string; ca?: string; requestCert?: boolean; rejectUnauthorized?: boolean };
  } = {},
): Promise<Website> {
  const site: Website = { url: '', port: 0, files: new Map(), requests: [], logins: [], intercept: undefined, close };
  const listener: RequestListener = (request, response) => {
    site.logins.push(request.headers.authorization);
    const at = site.requests.length;
    site.requests.push(`GET ${request.url}`);
    response.on('finish', () => {
      site.requests[at] = `GET ${request.url} ${response.statusCode}`;
    });
    if (site.intercept?.(request, response) === true) return;
    const body = site.files.get((request.url ?? '').split('?')[0] ?? '');
    if (body === undefined) {
      response.writeHead(404).end('no');
      return;
    }
    const etag = `"${body.length}-${body.subarray(-32).toString('hex')}"`;
    if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
    else response.writeHead(200, { etag }).end(body);
  };
  const http = options.tls === undefined ? createServer(listener) : createTlsServer(options.tls, listener);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  site.port = (http.address() as AddressInfo).port;
  site.url = `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${site.port}`;
  async function close(): Promise<void> {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  }
  return site;
}
