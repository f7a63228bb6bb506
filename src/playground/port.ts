import { createServer } from 'node:net';
import { EspalierError } from '../api/index.ts';

const LOWEST = 20_000;
/** Below the ports that systems hand to outgoing connections, so a server can come back on its port after a restart. */
const HIGHEST = 32_000;
const TRIES = 50;

/** A port of 127.0.0.1 that nobody listens on now. Somebody may take it before its server does: be ready to try another. */
export async function freePort(): Promise<number> {
  for (let i = 0; i < TRIES; i++) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (await isFree(port)) return port;
  }
  throw new EspalierError('PlaygroundFailed', `no free port of 127.0.0.1 found between ${LOWEST} and ${HIGHEST}`);
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
