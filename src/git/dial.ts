import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { getCACertificates } from 'node:tls';
import { Agent, buildConnector, type Dispatcher, ProxyAgent } from 'undici';
import { EspalierError, isError } from '../api/index.ts';
import { isRange, isWithin, kindOfAddress } from './address.ts';
import type { UrlPolicy } from './url.ts';

export interface ProxySettings {
  /** `http://user:password@proxy.example.com:3128`. */
  url: string;
  /** Hosts that are reached directly: `git.internal`, `.example.com`. */
  noProxy?: string[];
}

export interface DialOptions {
  policy: UrlPolicy;
  /** PEM certificates to trust besides the ones that Node brings. */
  caBundle?: string | undefined;
  /** A certificate of ours, PEM with its key, for servers that ask for one. */
  clientCertificate?: { cert: string; key: string } | undefined;
  proxy?: ProxySettings | undefined;
  connectTimeoutMs: number;
  /** How long an answer may not go on. Absent: whoever asks has a deadline, and that alone ends it, in its own words. */
  silenceMs?: number;
}

/** How long a name that a proxy will resolve counts as checked, and of how many that is remembered. */
const CHECKED_MS = 60_000;
const CHECKED_HOSTS = 1000;

export interface Dialer {
  /** How to reach a URL: directly, with every address checked when it is dialled, or through the proxy. */
  reach(url: URL): Promise<Dispatcher>;
  close(): Promise<void>;
}

/** Refuses an address that the policy does not allow. The message names no resolved address: who asks may not know it. */
export function checkAddress(host: string, address: string, policy: UrlPolicy): void {
  const kind = kindOfAddress(address);
  if (kind === undefined || policy.privateAddresses === true || isWithin(address, policy.addresses ?? [])) return;
  throw new EspalierError(
    'GitBadUrl',
    `The host ${host} has a ${kind} address, which is not allowed for repositories; the agent takes such ones with --allow-private.`,
    { data: { host, kind } },
  );
}

/** Resolves a host once and checks all of its addresses, for programs that are then told which one to dial. */
export async function resolveChecked(host: string, policy: UrlPolicy): Promise<string[]> {
  if (isIP(host) !== 0) {
    checkAddress(host, host, policy);
    return [host];
  }
  return new Promise((resolve, reject) => {
    checkedLookup(policy)(host, { all: true }, (error, addresses) => {
      if (error !== null) reject(error instanceof EspalierError ? error : unresolved(host, error));
      else resolve(Array.isArray(addresses) ? addresses.map(({ address }) => address) : [addresses]);
    });
  });
}

export function createDialer(options: DialOptions): Dialer {
  const { policy, proxy, caBundle, clientCertificate = {}, connectTimeoutMs, silenceMs = 0 } = options;
  const wrong = (policy.addresses ?? []).find((range) => !isRange(range));
  if (wrong !== undefined) {
    throw new EspalierError(
      'InvalidConfiguration',
      `${JSON.stringify(wrong)} is no range of addresses; write 10.20.0.0/16.`,
      { retry: false },
    );
  }
  const trust = caBundle === undefined ? {} : { ca: trustedWith(caBundle) };
  const tls = { ...trust, ...clientCertificate };
  const dial = buildConnector({ ...tls, allowH2: false, timeout: connectTimeoutMs, lookup: checkedLookup(policy) });
  const times = { headersTimeout: silenceMs, bodyTimeout: silenceMs };
  const direct = new Agent({
    ...times,
    allowH2: false,
    connect(target, callback) {
      // A literal address is dialled without any lookup.
      try {
        if (isIP(bare(target.hostname)) !== 0) checkAddress(target.hostname, bare(target.hostname), policy);
      } catch (error) {
        callback(error instanceof Error ? error : new Error(String(error)), null);
        return;
      }
      dial(target, callback);
    },
  });
  const through =
    proxy &&
    new ProxyAgent({
      ...times,
      uri: proxy.url,
      allowH2: false,
      requestTls: { ...tls, allowH2: false },
      proxyTls: trust,
    });
  const checkedUntil = new Map<string, number>();
  return {
    async reach(url) {
      if (through === undefined || isExempt(url.hostname, proxy?.noProxy ?? [])) return direct;
      // The proxy resolves names itself, perhaps ones that are unknown here; what is known here is held to the policy.
      // Where names of the outside are unknown, finding that out may take long, so it is done now and then only.
      const host = bare(url.hostname);
      if ((checkedUntil.get(host) ?? 0) > performance.now()) return through;
      await resolveChecked(host, policy).catch((error: unknown) => {
        if (!isError(error, 'GitUnreachable')) throw error;
      });
      if (checkedUntil.size >= CHECKED_HOSTS) checkedUntil.clear();
      checkedUntil.set(host, performance.now() + CHECKED_MS);
      return through;
    },
    async close() {
      await Promise.all([direct.destroy(), through?.destroy()]);
    },
  };
}

/** PEM certificates of everyone who is trusted: the usual ones and these. */
export function trustedWith(caBundle: string | undefined): string[] {
  return [...getCACertificates('default'), ...(caBundle === undefined ? [] : [caBundle])];
}

export function isExempt(host: string, noProxy: string[]): boolean {
  return noProxy.some(
    (pattern) =>
      pattern === '*' || host === pattern || host.endsWith(pattern.startsWith('.') ? pattern : `.${pattern}`),
  );
}

/** The addresses that are dialled are the ones that were checked: there is no second look-up in between. */
function checkedLookup(policy: UrlPolicy): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      try {
        for (const { address } of addresses) checkAddress(host, address, policy);
      } catch (refused) {
        return callback(refused instanceof Error ? refused : new Error(String(refused)), []);
      }
      const [first] = addresses;
      if (options.all === true || first === undefined) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
}

export function unresolved(host: string, cause: unknown): EspalierError {
  return new EspalierError(
    'GitUnreachable',
    `The host ${host} can't be resolved; check its name and the cluster's DNS.`,
    { cause },
  );
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}
