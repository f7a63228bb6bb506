import { once } from 'node:events';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { EspalierError } from '../api/index.ts';
import { signalGroup } from '../tools/group.ts';
import { spawnGroup } from '../tools/spawn.ts';
import { cgiVariables, readCgiHead } from './cgi.ts';
import { gitEnvironment, httpBackend } from './git.ts';

export interface BackendOptions {
  /** Folder of all repositories. */
  root: string;
  /** Path of the request below the root, made from names we know. */
  path: string;
  timeoutMs: number;
  signal: AbortSignal;
  /** Told what Git answered, when all of it arrived. For small answers: they are held. */
  heard?: ((answer: GitAnswer) => void) | undefined;
}

export interface GitAnswer {
  headers: OutgoingHttpHeaders;
  body: Uint8Array;
}

/**
 * Answers one request by `git http-backend`; bodies stream both ways. Resolves with whether Git succeeded, once the child is gone.
 * The child is killed with its group at the deadline, when the client leaves, when the signal aborts, and with our process.
 */
export async function answerByGit(
  request: IncomingMessage,
  response: ServerResponse,
  options: BackendOptions,
): Promise<boolean> {
  const child = await spawnGroup(await httpBackend(), {
    args: [],
    cwd: options.root,
    env: {
      ...gitEnvironment(options.root),
      GIT_PROJECT_ROOT: options.root,
      GIT_HTTP_EXPORT_ALL: '1',
      ...cgiVariables(request, options.path),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const { stdin, stdout } = child;
  const closed = once(child, 'close').catch(() => []); // a failed spawn: then there is no head either
  if (stdin === null || stdout === null) throw new EspalierError('Internal', 'git was started without pipes');
  const kill = () => {
    if (child.pid !== undefined && child.exitCode === null) signalGroup(child.pid, 'SIGKILL');
  };
  const timer = setTimeout(kill, options.timeoutMs);
  options.signal.addEventListener('abort', kill);
  response.once('close', kill);
  try {
    pipeline(request, stdin).catch(() => {}); // git may answer before it has read everything
    const head = await readCgiHead(stdout);
    if (head === undefined) {
      response.writeHead(500, { 'content-type': 'text/plain' }).end('git did not answer\n');
      return false;
    }
    response.writeHead(head.status, head.headers);
    response.off('close', kill); // also emitted when all went well, while git still finishes
    const body: Uint8Array[] = [];
    if (options.heard !== undefined) stdout.on('data', (part: Uint8Array) => body.push(part));
    await pipeline(stdout, response);
    await closed;
    const isGood = child.exitCode === 0 && head.status === 200;
    if (isGood) options.heard?.({ headers: head.headers, body: Buffer.concat(body) });
    return isGood;
  } catch {
    return false; // the client left
  } finally {
    kill();
    clearTimeout(timer);
    response.off('close', kill);
    options.signal.removeEventListener('abort', kill);
  }
}
