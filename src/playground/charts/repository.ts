import { createHash } from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { stringify } from 'yaml';
import type { Authority } from '../authority.ts';
import type { PackagedChart } from './package.ts';

export interface ChartRepositoryOptions {
  /** Serves HTTPS with a certificate of this authority. */
  authority?: Authority;
  /** Who else asks gets a 401. */
  credential?: { user: string; password: string };
}

export interface ChartRequest {
  method: string;
  path: string;
  /** As the client sent it, credentials too. */
  authorization: string | undefined;
  /** Of the answer; 0 when there was none. */
  status: number;
}

export interface ChartAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/** What a client gets instead of the repository's answer (`hang`: nothing, ever); `undefined` leaves it as it is. */
export type ChartFault = (request: { path: string }) => ChartAnswer | 'hang' | 'reset' | undefined;

/** A classic chart repository on 127.0.0.1: an index with an ETag, and archives. */
export interface ChartRepository {
  url: string;
  readonly requests: readonly ChartRequest[];
  add(...charts: PackagedChart[]): void;
  /** Without a version: all of that name. */
  remove(name: string, version?: string): void;
  /** Serves this text as index.yaml; `undefined` goes back to the charts that are there. */
  setIndex(text: string | undefined): void;
  fault: ChartFault | undefined;
  forgetRequests(): void;
  stop(): Promise<void>;
}

/** The index is the same for the same charts: a date of today would change its ETag. */
const CREATED = '2026-01-01T00:00:00Z';

export async function startChartRepository(options: ChartRepositoryOptions = {}): Promise<ChartRepository> {
  const charts = new Map<string, PackagedChart>();
  let requests: ChartRequest[] = [];
  let index: string | undefined;
  let written: string | undefined;

  function answerTo(path: string, headers: IncomingMessage['headers']): ChartAnswer {
    if (!mayRead(options, headers.authorization))
      return { status: 401, headers: { 'www-authenticate': 'Basic realm="charts"' } };
    if (path === '/index.yaml') return indexFor(headers['if-none-match']);
    const chart = charts.get(decodeURIComponent(path.slice(1)));
    if (chart === undefined) return { status: 404, body: 'no such chart\n' };
    return { status: 200, headers: { 'content-type': 'application/gzip' }, body: chart.bytes };
  }

  function indexFor(known: string | undefined): ChartAnswer {
    written ??= indexOf([...charts.values()]);
    const body = index ?? written;
    const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"`;
    if (known === etag) return { status: 304, headers: { etag } };
    return { status: 200, headers: { 'content-type': 'application/yaml', etag }, body };
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const { authorization } = request.headers;
    const seen: ChartRequest = { method: request.method ?? '', path, authorization, status: 0 };
    requests.push(seen);
    const answer = repository.fault?.({ path }) ?? answerTo(path, request.headers);
    if (answer === 'reset') request.socket.resetAndDestroy();
    if (typeof answer === 'string') return;
    const { status, headers = {}, body = '' } = answer;
    seen.status = status;
    const length = status === 304 ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    response.writeHead(status, { ...length, ...headers }).end(body);
  }

  const pair = options.authority?.issue({ commonName: 'charts', hosts: ['127.0.0.1', 'localhost'] });
  const server =
    pair === undefined
      ? createHttpServer(handle)
      : createHttpsServer({ cert: pair.certificate, key: pair.key }, handle);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  const repository: ChartRepository = {
    url: `${pair === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    get requests() {
      return requests;
    },
    add(...added) {
      for (const chart of added) charts.set(chart.file, chart);
      written = undefined;
    },
    remove(name, version) {
      for (const [file, chart] of charts)
        if (chart.name === name && (version ?? chart.version) === chart.version) charts.delete(file);
      written = undefined;
    },
    setIndex(text) {
      index = text;
    },
    fault: undefined,
    forgetRequests() {
      requests = [];
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return repository;
}

function mayRead({ credential }: ChartRepositoryOptions, authorization: string | undefined): boolean {
  if (credential === undefined) return true;
  const expected = Buffer.from(`${credential.user}:${credential.password}`).toString('base64');
  return authorization === `Basic ${expected}`;
}

/** `index.yaml` as `helm repo index` writes it, with relative addresses. */
export function indexOf(charts: readonly PackagedChart[]): string {
  const entries: Record<string, unknown[]> = {};
  for (const { name, version, file, digest, metadata } of charts) {
    entries[name] ??= [];
    entries[name].push({ ...metadata, name, version, created: CREATED, digest, urls: [file] });
  }
  return stringify({ apiVersion: 'v1', generated: CREATED, entries }, { aliasDuplicateObjects: false, lineWidth: 0 });
}
