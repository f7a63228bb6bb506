import { isIP } from 'node:net';
import type { ProxySettings } from '../git/dial.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy that the environment names for a URL; this machine itself is always reached directly. */
export function proxyFrom(env: Environment, url: URL): ProxySettings | undefined {
  const proxy = url.protocol === 'https:' ? (env.HTTPS_PROXY ?? env.https_proxy) : (env.HTTP_PROXY ?? env.http_proxy);
  if (proxy === undefined || proxy === '') return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))) return undefined;
  const noProxy = (env.NO_PROXY ?? env.no_proxy ?? '')
    .split(',')
    .map((each) => each.trim().toLowerCase().replace(/^\*\./, '.'))
    .filter((each) => each !== '');
  return { url: proxy.includes('://') ? proxy : `http://${proxy}`, noProxy };
}
