import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

const HEAD_LIMIT = 16 * 1024;

export interface CgiHead {
  status: number;
  headers: OutgoingHttpHeaders;
}

/**
 * Reads the head of a CGI answer (RFC 3875) and leaves the stream at its body.
 * Undefined when the stream ends before a whole head, or the head is absurdly long.
 */
export async function readCgiHead(stream: Readable): Promise<CgiHead | undefined> {
  let seen = Buffer.alloc(0);
  while (seen.length < HEAD_LIMIT) {
    const chunk: Buffer | null = await nextChunk(stream);
    if (chunk === null) return undefined;
    seen = Buffer.concat([seen, chunk]);
    const end = /\r?\n\r?\n/.exec(seen.toString('latin1'));
    if (end === null) continue;
    const bodyAt = end.index + end[0].length;
    if (bodyAt < seen.length) stream.unshift(seen.subarray(bodyAt));
    return parseCgiHead(seen.subarray(0, end.index).toString('latin1'));
  }
  return undefined;
}

function nextChunk(stream: Readable): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const settle = () => {
      const chunk: Buffer | null = stream.read();
      if (chunk === null && !stream.readableEnded && !stream.destroyed) return;
      stream.off('readable', settle).off('end', settle).off('close', settle);
      resolve(chunk);
    };
    stream.on('readable', settle).on('end', settle).on('close', settle);
    settle();
  });
}

export function parseCgiHead(text: string): CgiHead {
  const headers: OutgoingHttpHeaders = {};
  let status = 200;
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'status') status = Number.parseInt(value, 10) || 500;
    else headers[name] = value;
  }
  return { status, headers };
}

/** The meta-variables of a request that `git http-backend` reads. */
export function cgiVariables(request: IncomingMessage, path: string): Record<string, string> {
  const [, query = ''] = (request.url ?? '').split('?', 2);
  const optional: [string, string | undefined][] = [
    ['CONTENT_TYPE', request.headers['content-type']],
    ['CONTENT_LENGTH', request.headers['content-length']],
    ['HTTP_CONTENT_ENCODING', request.headers['content-encoding']],
    ['GIT_PROTOCOL', headerText(request.headers['git-protocol'])],
  ];
  const given = optional.filter((pair): pair is [string, string] => pair[1] !== undefined);
  return {
    GATEWAY_INTERFACE: 'CGI/1.1',
    SERVER_PROTOCOL: 'HTTP/1.1',
    REQUEST_METHOD: request.method ?? 'GET',
    PATH_INFO: path,
    QUERY_STRING: query,
    REMOTE_ADDR: request.socket.remoteAddress ?? '127.0.0.1',
    REMOTE_USER: 'playground',
    ...Object.fromEntries(given),
  };
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}
