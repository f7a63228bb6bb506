import { BlockList, isIP } from 'node:net';
import type { ClusterConfig } from './kubeconfig.ts';

/** The proxy that leads to the API server: the kubeconfig's, or else the environment's by the rules that kubectl follows. */
export function proxyFor(config: ClusterConfig, env: Record<string, string | undefined>): string | undefined {
  if (config.proxyUrl !== undefined) return config.proxyUrl;
  const { protocol, hostname, port } = new URL(config.server);
  const proxy = protocol === 'https:' ? (env.HTTPS_PROXY ?? env.https_proxy) : (env.HTTP_PROXY ?? env.http_proxy);
  if (proxy === undefined || proxy === '') return undefined;
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (isLoopback(host)) return undefined;
  const exceptions = (env.NO_PROXY ?? env.no_proxy ?? '').split(',').map((each) => each.trim().toLowerCase());
  if (exceptions.some((exception) => matches(exception, host, port))) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** `*`, a host, `.domain`, an address or a block such as 10.0.0.0/8; each with or without a port. */
function matches(exception: string, host: string, port: string): boolean {
  if (exception === '') return false;
  if (exception === '*') return true;
  const [block, prefix] = exception.split('/');
  if (prefix !== undefined) return inBlock(block ?? '', Number(prefix), host);
  const withPort = isIP(exception) === 6 ? null : /^(.*):(\d+)$/.exec(exception);
  const name = withPort?.[1] ?? exception;
  if (withPort !== null && withPort[2] !== (port || '443')) return false;
  const bare = name.replace(/^\*?\./, '');
  return (name === bare && host === bare) || host.endsWith(`.${bare}`);
}

function inBlock(block: string, prefix: number, host: string): boolean {
  const family = isIP(block) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(block) === 0 || isIP(host) !== isIP(block)) return false;
  if (!Number.isInteger(prefix) || prefix < 0 || prefix > (family === 'ipv6' ? 128 : 32)) return false;
  const list = new BlockList();
  list.addSubnet(block, prefix, family);
  return list.check(host, family);
}
