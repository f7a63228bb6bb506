import { isIP } from 'node:net';
import { EspalierError } from '../api/index.ts';
import { redactUrl } from './redact.ts';

/** Where repositories may be. What is not allowed here is refused before, and where names are concerned after, resolving. */
export interface UrlPolicy {
  /** Plain http. Default: refused. */
  http?: boolean;
  /** Loopback, link-local, private and cluster addresses. Default: refused. */
  privateAddresses?: boolean;
  /** Ranges such as `10.20.0.0/16` that are allowed all the same. */
  addresses?: string[];
  /** When given, these hosts only: `git.example.com`, `*.example.com`. */
  hosts?: string[];
}

export interface RepositoryUrl {
  protocol: 'https' | 'http' | 'ssh';
  host: string;
  port: number | undefined;
  /** The ssh user. */
  user: string | undefined;
  /** Without credentials; the form that goes to servers, programs, logs and status. */
  href: string;
  /** Credentials that were written into the URL; nothing else holds them. */
  embedded: { username: string; password: string } | undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const CONTROL = /[\u0000-\u0020\u007f-\u009f]/;
const HOST = /^[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?\.?$/;
const SCP = /^([\w.][\w.+-]*)@(\[[0-9a-f:.]+\]|[\w.-]+):(.+)$/i;

/**
 * Takes https, http (when allowed), ssh:// and `user@host:path`, and nothing else: what Git would run or read instead
 * (`ext::`, `file://`, paths, options) ends in GitBadUrl.
 */
export function parseRepositoryUrl(text: string, policy: UrlPolicy = {}): RepositoryUrl {
  if (text === '' || CONTROL.test(text)) throw badUrl(text, 'it is empty or contains blanks or control characters');
  if (text.startsWith('-')) throw badUrl(text, 'it starts with a dash');
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? parseSchemed(text, policy) : parseScp(text);
  if (policy.hosts !== undefined && !policy.hosts.some((pattern) => matchesHost(url.host, pattern))) {
    throw badUrl(text, `the host ${url.host} is not among those allowed`);
  }
  return url;
}

function parseScp(text: string): RepositoryUrl {
  const match = SCP.exec(text);
  const [, user, host, path] = match ?? [];
  if (user === undefined || host === undefined || path === undefined || /^[:-]/.test(path)) {
    throw badUrl(text, 'write https://host/path, ssh://user@host/path or user@host:path');
  }
  return { protocol: 'ssh', host: normaliseHost(text, host), port: undefined, user, href: text, embedded: undefined };
}

function parseSchemed(text: string, policy: UrlPolicy): RepositoryUrl {
  const url = URL.parse(text);
  const protocol = url?.protocol.slice(0, -1);
  if (url === null || (protocol !== 'https' && protocol !== 'http' && protocol !== 'ssh')) {
    throw badUrl(text, 'only https and ssh are understood');
  }
  if (protocol === 'http' && policy.http !== true) throw badUrl(text, 'plain http is not allowed; use https');
  if (url.search !== '' || url.hash !== '') throw badUrl(text, 'a question mark or a hash has no meaning in it');
  if (url.pathname.replaceAll('/', '') === '') throw badUrl(text, 'it names no repository on the host');
  const host = normaliseHost(text, url.hostname);
  const port = url.port === '' ? undefined : Number(url.port);
  const written = { username: decode(url.username), password: decode(url.password) };
  const user = protocol === 'ssh' && written.username !== '' ? written.username : undefined;
  if (user !== undefined && !/^[\w.][\w.+-]*$/.test(user)) throw badUrl(text, 'the user name is not one for ssh');
  const authority = `${user === undefined ? '' : `${user}@`}${host.includes(':') ? `[${host}]` : host}${port === undefined ? '' : `:${port}`}`;
  const embedded = written.password !== '' || (user === undefined && written.username !== '') ? written : undefined;
  return {
    protocol,
    host,
    port,
    user,
    href: `${protocol}://${authority}${url.pathname.replace(/\/+$/, '')}`,
    embedded,
  };
}

/** Lower case, and a number or an octal form as the address that it means. */
function normaliseHost(text: string, host: string): string {
  const plain = URL.parse(`http://${host}/`)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  if (isIP(plain) === 0 && !HOST.test(plain)) throw badUrl(text, 'its host is no host name');
  return plain;
}

/** `git.example.com` is that host, `*.example.com` each one below. */
export function matchesHost(host: string, pattern: string): boolean {
  const wanted = pattern.toLowerCase();
  return wanted.startsWith('*.') ? host.endsWith(wanted.slice(1)) : host === wanted;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function badUrl(text: string, why: string): EspalierError {
  return new EspalierError(
    'GitBadUrl',
    `The repository URL ${JSON.stringify(redactUrl(text).slice(0, 200))} is refused: ${why}.`,
    {
      data: { url: redactUrl(text).slice(0, 200) },
      retry: false,
    },
  );
}
