import { readFile } from 'node:fs/promises';
import { Pool } from 'undici';
import { parse } from 'yaml';

/**
 * The least that can speak to the API server: undici and JSON, without errors, retries, deadlines or limits. What the
 * client costs is measured against it.
 */
export interface Bare {
  get(path: string): Promise<unknown>;
  apply(path: string, object: unknown): Promise<unknown>;
  /** Deletes all that a collection holds with these labels. */
  clear(path: string, labels: string): Promise<void>;
  /** Makes the API server collect its garbage, as it does now and then by itself. */
  collect(): Promise<void>;
  /** Counts the events of a watch until there are `count`. */
  watch(path: string, count: number): Promise<void>;
  close(): Promise<void>;
}

export async function createBare(kubeconfig: string, connections: number): Promise<Bare> {
  const config = parse(await readFile(kubeconfig, 'utf8'));
  const { server, 'certificate-authority-data': ca } = config.clusters[0].cluster;
  const headers = { authorization: `Bearer ${config.users[0].user.token}` };
  const connect = { ca: Buffer.from(ca, 'base64') };
  const pool = new Pool(server, { connect, connections, allowH2: false });

  return {
    async get(path) {
      const { body } = await pool.request({ method: 'GET', path, headers });
      return body.json();
    },
    async apply(path, object) {
      const { body } = await pool.request({
        method: 'PATCH',
        path: `${path}?fieldManager=bench&force=true`,
        headers: { ...headers, 'content-type': 'application/apply-patch+yaml' },
        body: JSON.stringify(object),
      });
      return body.json();
    },
    async clear(path, labels) {
      const query = `labelSelector=${encodeURIComponent(labels)}`;
      const { body } = await pool.request({ method: 'DELETE', path: `${path}?${query}`, headers });
      await body.dump();
    },
    async collect() {
      const { body } = await pool.request({ method: 'GET', path: '/debug/pprof/heap?gc=1', headers });
      await body.dump();
    },
    async watch(path, count) {
      const { body } = await pool.request({ method: 'GET', path, headers });
      let rest = '';
      let seen = 0;
      for await (const chunk of body.setEncoding('utf8')) {
        const lines = `${rest}${chunk}`.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if (JSON.parse(line).type === 'MODIFIED') seen++;
        if (seen >= count) break;
      }
    },
    close: () => pool.destroy(),
  };
}

/** Runs `work` for 0 to count - 1, so many at once, and returns how many a second that was. */
export async function rate(count: number, atOnce: number, work: (index: number) => Promise<unknown>): Promise<number> {
  const started = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < count) await work(next++);
    }),
  );
  return count / ((performance.now() - started) / 1000);
}
