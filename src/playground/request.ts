import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

export type Endpoint = { socketPath: string } | { url: string; certificate: string; token: string };

export interface Answer {
  status: number;
  body: string;
}

const TIMEOUT_MS = 5_000;

/**
 * One request to a server that is still starting. Undefined when it can't be reached.
 * The real client (`src/cluster`) takes half a second to load, which a start does not have.
 */
export function ask(
  endpoint: Endpoint,
  path: string,
  options: { method?: string; body?: object } = {},
): Promise<Answer | undefined> {
  const body = options.body === undefined ? undefined : JSON.stringify(options.body);
  const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  const common = { method: options.method ?? 'GET', path, timeout: TIMEOUT_MS, agent: false };
  return new Promise((resolve) => {
    const request =
      'socketPath' in endpoint
        ? httpRequest({ ...common, headers, socketPath: endpoint.socketPath })
        : httpsRequest(endpoint.url, {
            ...common,
            headers: { ...headers, authorization: `Bearer ${endpoint.token}` },
            ca: endpoint.certificate,
          });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(undefined));
    request.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.once('error', () => resolve(undefined));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    request.end(body);
  });
}
