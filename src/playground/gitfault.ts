import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** How a server can misbehave for a test. `slow` waits and then answers properly. */
export type GitFault =
  /** A sign-in page. On one line, system git takes it for an empty list of refs. */
  | { kind: 'html'; page?: string }
  | { kind: 'status'; status: number; headers?: Record<string, string> }
  | { kind: 'hang' }
  | { kind: 'cut' }
  | { kind: 'garbage' }
  | { kind: 'redirect'; to: string }
  | { kind: 'slow'; delayMs: number };

const SIGN_IN = '<!doctype html>\n<title>Sign in</title>\n<p>Please sign in.\n';

/** Acts the fault out. True when Git itself shall answer after all. */
export async function actOut(fault: GitFault, response: ServerResponse): Promise<boolean> {
  switch (fault.kind) {
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' }).end(fault.page ?? SIGN_IN);
      return false;
    case 'status':
      response
        .writeHead(fault.status, { 'content-type': 'text/plain', ...fault.headers })
        .end(`fault ${fault.status}\n`);
      return false;
    case 'redirect':
      response.writeHead(302, { location: fault.to }).end();
      return false;
    case 'garbage':
      response
        .writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })
        .end('001e# not what was agreed\n');
      return false;
    case 'cut':
      response
        .writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })
        .write('001e# service=git');
      response.destroy();
      return false;
    case 'hang':
      return false; // until the client gives up or the server stops
    case 'slow':
      await delay(fault.delayMs);
      return !response.destroyed;
  }
}
