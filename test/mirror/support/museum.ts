import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { digestOf } from './images.ts';

export interface TestMuseum {
  url: string;
  host: string;
  /** Archives by `name-version`. */
  charts: Map<string, Buffer>;
  pushes: number;
  /** What happens between the question whether a chart is there and its push. */
  meanwhile?: () => void;
  close(): Promise<void>;
}

/** As ChartMuseum's page on its API says: POST /api/charts, GET /api/charts/<name>/<version>; 409 for what is there. */
export async function startMuseum(organisation = ''): Promise<TestMuseum> {
  const server = createServer(async (asked, answer) => {
    const say = (status: number, body: object) =>
      answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const base = `/api${organisation}/charts`;
    if (asked.method === 'POST' && asked.url === base) {
      museum.pushes += 1;
      museum.meanwhile?.();
      const archive = await buffer(asked);
      const key = keyIn(archive);
      if (key === undefined) return say(500, { error: 'no Chart.yaml' });
      if (museum.charts.has(key)) return say(409, { error: 'file already exists' });
      museum.charts.set(key, archive);
      return say(201, { saved: true });
    }
    const [, file] = new RegExp(`^${organisation}/charts/(.+)\\.tgz$`).exec(asked.url ?? '') ?? [];
    const stored = museum.charts.get(file ?? '');
    if (stored !== undefined) return answer.writeHead(200).end(stored);
    const [, name, version] = new RegExp(`^${base}/([^/]+)/([^/]+)$`).exec(asked.url ?? '') ?? [];
    const archive = museum.charts.get(`${name}-${version}`);
    if (asked.method !== 'GET' || archive === undefined) return say(404, { error: 'not found' });
    return say(200, { name, version, digest: digestOf(archive).slice('sha256:'.length) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const museum: TestMuseum = { url: `http://${host}${organisation}`, host, charts: new Map(), pushes: 0, close };
  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return museum;
}

/** By its Chart.yaml: a Chart.lock before it names other charts. */
function keyIn(archive: Buffer): string | undefined {
  const text = gunzipSync(archive).toString('latin1');
  const chart = text.slice(text.indexOf('/Chart.yaml\0') + 512);
  const field = (name: string) => new RegExp(`"?${name}"?: "?([\\w.+-]+)"?`).exec(chart)?.[1];
  return field('name') === undefined ? undefined : `${field('name')}-${field('version')}`;
}
