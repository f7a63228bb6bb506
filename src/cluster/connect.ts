import { createSecureContext, type SecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import type { Credentials, TlsMaterial } from './credentials.ts';
import type { ClusterConfig } from './kubeconfig.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** The kernel then probes each second, and gives a vanished peer up after ten of them. */
const TCP_KEEPALIVE_MS = 15_000;

/** How to trust the server, without what identifies us. */
export function trustOptions(config: ClusterConfig): { servername?: string; rejectUnauthorized?: boolean } {
  return {
    ...(config.serverName === undefined ? {} : { servername: config.serverName }),
    ...(config.insecure === true ? { rejectUnauthorized: false } : {}),
  };
}

/** Opens connections to the API server, each with the certificates as they are at that moment. */
export function createConnector(
  config: ClusterConfig,
  credentials: Credentials,
  options: { http2: boolean },
): buildConnector.connector {
  let held: { material: TlsMaterial; context: SecureContext; connect: buildConnector.connector } | undefined;

  function connectorFor(material: TlsMaterial): buildConnector.connector {
    if (held !== undefined && sameMaterial(held.material, material)) return held.connect;
    const context = createSecureContext(material);
    const connect = buildConnector({
      ...trustOptions(config),
      secureContext: context,
      allowH2: options.http2,
      preferH2: true,
      timeout: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEPALIVE_MS,
    });
    held = { material, context, connect };
    return connect;
  }

  return (target, callback) => {
    credentials
      .tls()
      .then(connectorFor)
      .then(
        (connect) => connect(target, callback),
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
      );
  };
}

function sameMaterial(a: TlsMaterial, b: TlsMaterial): boolean {
  return same(a.ca, b.ca) && same(a.cert, b.cert) && same(a.key, b.key);
}

function same(a: string | Buffer | undefined, b: string | Buffer | undefined): boolean {
  if (a === b) return true;
  return a !== undefined && b !== undefined && Buffer.from(a).equals(Buffer.from(b));
}
