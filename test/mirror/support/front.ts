import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** True: it has been answered, and the registry behind hears nothing of it. */
export type Meddle = (asked: IncomingMessage, answer: ServerResponse) => boolean | Promise<boolean>;

export interface Front {
  host: string;
  /** `PUT /v2/team/app/manifests/1 201` */
  requests: string[];
  meddle: Meddle | undefined;
  close(): Promise<void>;
}

/** Stands in front of a real registry, counts, and does on the way what networks and registries do. */
export async function startFront(registry: string): Promise<Front> {
  const server = createServer(async (asked, answer) => {
    const at = front.requests.push(`${asked.method} ${asked.url}`) - 1;
    answer.on('close', () => {
      front.requests[at] = `${asked.method} ${asked.url} ${answer.statusCode}`;
    });
    if ((await front.meddle?.(asked, answer)) === true) return;
    const [hostname = '', port] = registry.split(':');
    // With our own name, so that uploads go on through here.
    const headers = { ...asked.headers, host: front.host };
    const behind = request({ hostname, port, method: asked.method, path: asked.url, headers }, (given) => {
      answer.writeHead(given.statusCode ?? 502, given.headers);
      given.pipe(answer);
    });
    behind.on('error', () => answer.destroy());
    asked.on('error', () => behind.destroy());
    asked.pipe(behind);
  });
  const front: Front = { host: '', requests: [], meddle: undefined, close };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  front.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return front;
}

/** Those that change something. */
export function writes({ requests }: Front): string[] {
  return requests.filter((one) => /^(POST|PUT|PATCH|DELETE) /.test(one));
}
