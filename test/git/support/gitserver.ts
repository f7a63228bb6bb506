import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface GitServer {
  /** Ends without a slash; a repository is `${url}/name.git`. */
  url: string;
  port: number;
  /** What was asked, in order: `GET /a.git/info/refs?service=git-upload-pack`, with the headers. */
  requests: { line: string; headers: IncomingMessage['headers'] }[];
  /** Answers instead of Git where it returns true. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  close(): Promise<void>;
}

export interface GitServerOptions {
  /** Folder of bare repositories. */
  root: string;
  tls?: { key: string; cert: string };
  /** Whole Authorization headers that may read; absent: everybody may. */
  accept?: string[];
  /** Configuration of git for the server's side: `uploadpack.allowAnySHA1InWant=false`. */
  config?: Record<string, string>;
}

/** Git's own smart HTTP server (`git http-backend`) behind Node, with room for faults. */
export async function startGitServer(options: GitServerOptions): Promise<GitServer> {
  const server: GitServer = { url: '', port: 0, requests: [], intercept: undefined, close };
  const listener: RequestListener = (request, response) => {
    server.requests.push({ line: `${request.method} ${request.url}`, headers: request.headers });
    if (server.intercept?.(request, response) === true) return;
    if (options.accept !== undefined && !options.accept.includes(request.headers.authorization ?? '')) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('who are you?');
      return;
    }
    serve(request, response, options);
  };
  const http = options.tls === undefined ? createServer(listener) : createTlsServer(options.tls, listener);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  server.port = (http.address() as AddressInfo).port;
  server.url = `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${server.port}`;
  async function close(): Promise<void> {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  }
  return server;
}

export function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { root, config = {} }: GitServerOptions,
): void {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const settings = Object.entries(config);
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: String(settings.length + 1),
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
    REQUEST_METHOD: request.method ?? 'GET',
    PATH_INFO: decodeURIComponent(url.pathname),
    QUERY_STRING: url.search.slice(1),
    CONTENT_TYPE: request.headers['content-type'] ?? '',
    REMOTE_ADDR: '127.0.0.1',
  };
  for (const [i, [key, value]] of settings.entries())
    Object.assign(env, { [`GIT_CONFIG_KEY_${i + 1}`]: key, [`GIT_CONFIG_VALUE_${i + 1}`]: value });
  if (request.headers['content-length'] !== undefined) env.CONTENT_LENGTH = request.headers['content-length'];
  const protocol = request.headers['git-protocol'];
  if (typeof protocol === 'string') env.GIT_PROTOCOL = protocol;
  if (request.headers['content-encoding'] !== undefined)
    env.HTTP_CONTENT_ENCODING = request.headers['content-encoding'];
  const child = spawn('git', ['http-backend'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.on('error', () => undefined);
  request.pipe(child.stdin);
  response.on('close', () => child.kill());
  let head: Buffer | undefined = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    if (head === undefined) {
      if (!response.write(chunk)) {
        child.stdout.pause();
        response.once('drain', () => child.stdout.resume());
      }
      return;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    let status = 200;
    for (const line of head.toString('latin1', 0, end).split('\r\n')) {
      const [name = '', value = ''] = line.split(/: (.*)/s);
      if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.writeHead(status);
    response.write(head.subarray(end + 4));
    head = undefined;
  });
  child.stdout.on('end', () => response.end());
}
