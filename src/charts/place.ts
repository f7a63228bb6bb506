import { isIP } from 'node:net';
import { isWithin, kindOfAddress } from '../git/address.ts';
import { redactUrl } from '../git/redact.ts';
import { matchesHost, type UrlPolicy } from '../git/url.ts';
import { refused } from './errors.ts';

/** Where charts may come from. */
export interface PlacePolicy {
  addresses: UrlPolicy;
  /** Hosts (`registry.internal` or `registry.internal:5000`) that speak plain http. */
  plainHttp: readonly string[];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const CONTROL = /[\u0000-\u0020\u007f-\u009f\\]/;

/** A URL of a repository, of a chart in one, or one that a server leads to; refused when it is not allowed. */
export function parsePlace(text: string, policy: PlacePolicy, base?: URL): URL {
  const bad = (why: string): Error => refused(`The URL ${shown(text)} is refused: ${why}.`);
  if (text === '' || CONTROL.test(text)) throw bad('it is empty or contains blanks, backslashes or control characters');
  const url = base === undefined ? URL.parse(text) : URL.parse(text, base.href);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw bad('only https is understood');
  if (url.username !== '' || url.password !== '') throw bad('it holds credentials; put them into a Secret');
  checkHost(url, policy, bad);
  return url;
}

export interface OciPlace {
  /** `https://registry.example.com` */
  origin: string;
  /** As people write it: `registry.example.com`. */
  host: string;
  repository: string;
}

const REPOSITORY = /^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*)*$/;
const DOCKER_HUB = 'registry-1.docker.io';

/** `oci://host[:port]/path/of/chart`. With a CA of its own even a host that may speak plain http is asked over https. */
export function parseOci(text: string, policy: PlacePolicy, hasCa: boolean): OciPlace {
  const bad = (why: string): Error => refused(`The URL ${shown(text)} is refused: ${why}.`);
  const [, written = '', repository = ''] = /^oci:\/\/([^/]+)\/(.+?)\/*$/i.exec(text) ?? [];
  if (written === '' || CONTROL.test(text)) throw bad('write oci://registry.example.com/path/of/chart');
  if (written.includes('@')) throw bad('it holds credentials; put them into a Secret');
  if (/[:@]/.test(repository)) throw bad('the tag or digest belongs into version or digest');
  if (!REPOSITORY.test(repository))
    throw bad('its path is none that registries take (lower case, digits, ".", "_", "-")');
  const host = /^(index\.)?docker\.io$/i.test(written) ? DOCKER_HUB : written.toLowerCase();
  const https = URL.parse(`https://${host}`);
  if (https === null || https.pathname !== '/' || https.search !== '') throw bad('its host is no host name');
  const plain = !hasCa && (isNamed(https, policy) || isAllowedLoopback(https, policy));
  const url = plain ? new URL(`http://${host}`) : https;
  checkHost(url, policy, bad);
  return { origin: url.origin, host, repository };
}

function checkHost(url: URL, policy: PlacePolicy, bad: (why: string) => Error): void {
  const { addresses } = policy;
  const plain = addresses.http === true || isNamed(url, policy) || isAllowedLoopback(url, policy);
  if (url.protocol === 'http:' && !plain) throw bad('plain http is not allowed; use https');
  const host = bare(url);
  if (addresses.hosts !== undefined && !addresses.hosts.some((pattern) => matchesHost(host, pattern))) {
    throw bad(`the host ${host} is not among those allowed`);
  }
}

function isNamed(url: URL, policy: PlacePolicy): boolean {
  return policy.plainHttp.some((named) => named === url.host || named === url.hostname);
}

/** Plain http to this very machine is seen by nobody else. */
function isAllowedLoopback(url: URL, { addresses }: PlacePolicy): boolean {
  const host = bare(url);
  if (host !== 'localhost' && (isIP(host) === 0 || kindOfAddress(host) !== 'loopback')) return false;
  return (
    addresses.privateAddresses === true ||
    isWithin(host === 'localhost' ? '127.0.0.1' : host, addresses.addresses ?? [])
  );
}

/** Without credentials, and without a query: addresses of stores are signed there. */
function shown(text: string): string {
  return JSON.stringify(redactUrl(text.replace(/[?#].*$/s, '')).slice(0, 200));
}

function bare(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}
