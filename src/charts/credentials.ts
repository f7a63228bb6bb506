import { EspalierError } from '../api/index.ts';

/** What opens one source of charts. It goes to the host that it is for, and to no other. */
export interface ChartCredentials {
  username?: string;
  password?: string;
  bearerToken?: string;
  /** PEM certificates to trust besides the usual ones. */
  ca?: string;
  /** A certificate of ours, PEM, and its key. */
  clientCert?: string;
  clientKey?: string;
}

type Get = (key: string) => string | undefined;

/**
 * Reads what a Secret (its data decoded) offers for a host, by Flux's key names: username, password, bearerToken, ca.crt,
 * tls.crt, tls.key; `.dockerconfigjson` for the host's entry in it. No message holds a value.
 */
export function chartCredentials(data: Record<string, string>, host: string): ChartCredentials {
  const get: Get = (key) => (Object.hasOwn(data, key) && data[key] !== '' ? data[key] : undefined);
  const ca = get('ca.crt') ?? get('caFile');
  const clientCert = get('tls.crt') ?? get('certFile');
  const clientKey = get('tls.key') ?? get('keyFile');
  if ((clientCert === undefined) !== (clientKey === undefined)) {
    throw incomplete(`has ${clientCert === undefined ? '`tls.key` but no `tls.crt`' : '`tls.crt` but no `tls.key`'}`);
  }
  return {
    ...login(get, host),
    ...(ca === undefined ? {} : { ca }),
    ...(clientCert === undefined || clientKey === undefined ? {} : { clientCert, clientKey }),
  };
}

function login(get: Get, host: string): ChartCredentials {
  const bearerToken = get('bearerToken');
  if (bearerToken !== undefined) return { bearerToken: oneLine(bearerToken, 'bearerToken') };
  const username = get('username');
  const password = get('password');
  if (username !== undefined && password !== undefined) return pair(username, password);
  if (username !== undefined) throw incomplete('has `username` but no `password`; add the password or token');
  if (password !== undefined) throw incomplete('has `password` but no `username`; add the user name');
  const config = get('.dockerconfigjson');
  return config === undefined ? {} : fromDockerConfig(config, host);
}

function pair(username: string, password: string): ChartCredentials {
  return { username: oneLine(username, 'username'), password: oneLine(password, 'password') };
}

/** The names under which Docker keeps its own registry. */
const DOCKER_HUB = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io']);

function fromDockerConfig(text: string, host: string): ChartCredentials {
  const auths = Object.entries(objectIn(objectIn(parse(text)).auths));
  const wanted = (key: string): boolean => {
    const named = key
      .replace(/^https?:\/\//, '')
      .replace(/\/.*$/, '')
      .toLowerCase();
    return named === host.toLowerCase() || (DOCKER_HUB.has(named) && DOCKER_HUB.has(host));
  };
  const found = auths.find(([key]) => wanted(key));
  if (found === undefined) throw incomplete(`has a \`.dockerconfigjson\` without an entry for ${host}; add one`);
  const { username, password, auth, identitytoken } = objectIn(found[1]);
  if (typeof username === 'string' && typeof password === 'string') return pair(username, password);
  if (typeof auth === 'string') {
    const decoded = Buffer.from(auth, 'base64').toString();
    const colon = decoded.indexOf(':');
    if (colon > 0) return pair(decoded.slice(0, colon), decoded.slice(colon + 1).replace(/\0+$/, ''));
  }
  const instead = typeof identitytoken === 'string' ? ' (an identitytoken is not supported)' : '';
  throw incomplete(`has a \`.dockerconfigjson\` with no user name and password for ${host}${instead}; add \`auth\``);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw incomplete('has a `.dockerconfigjson` that is not JSON');
  }
}

function objectIn(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** A trailing newline is how an editor saved it; one inside would end a header. */
function oneLine(value: string, key: string): string {
  const trimmed = value.replace(/[\r\n]+$/, '');
  if (/[\r\n\0]/.test(trimmed)) throw incomplete(`has a \`${key}\` of several lines`);
  return trimmed;
}

function incomplete(what: string): EspalierError {
  return new EspalierError('ChartAuthFailed', `The Secret with the credentials of the source ${what}.`, {
    retry: false,
  });
}

/** Everything in credentials that must never be seen. */
export function secretsIn(credentials: ChartCredentials): string[] {
  const { username, password, bearerToken, clientKey } = credentials;
  return [
    ...(password === undefined ? [] : [password, `${username ?? ''}:${password}`]),
    ...(bearerToken === undefined ? [] : [bearerToken]),
    ...(clientKey === undefined ? [] : [clientKey]),
  ];
}

/** The header that presents them, where they are a login. */
export function authorizationOf(credentials: ChartCredentials): string | undefined {
  const { username, password, bearerToken } = credentials;
  if (bearerToken !== undefined) return `Bearer ${bearerToken}`;
  if (username === undefined || password === undefined) return undefined;
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
