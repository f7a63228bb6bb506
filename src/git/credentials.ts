import { EspalierError } from '../api/index.ts';
import { parseRepositoryUrl } from './url.ts';

export type Credentials = (
  | { kind: 'anonymous' }
  | { kind: 'basic'; username: string; password: string }
  | { kind: 'bearer'; token: string }
  | { kind: 'ssh'; identity: string; publicKey?: string; passphrase?: string; knownHosts: string }
  | { kind: 'githubApp'; appId: string; installationId: string; privateKey: string; apiUrl: string }
) & {
  /** PEM certificates of the server's authority. */
  caBundle?: string;
};

/** User names that forges expect beside a token. */
const TOKEN_USERS: [RegExp, string][] = [
  [/(^|\.)github\.com$/, 'x-access-token'],
  [/(^|\.)gitlab\.com$/, 'oauth2'],
  [/(^|\.)bitbucket\.org$/, 'x-token-auth'],
];

/**
 * Reads what a Secret (its data decoded) offers for a URL, by Flux's key names. Nothing in it means anonymous. What does not
 * suit the URL is an error that says which key is missing; no message holds a value.
 */
export function credentialsFromSecret(data: Record<string, string>, url: string): Credentials {
  const get = (key: string): string | undefined =>
    Object.hasOwn(data, key) && data[key] !== '' ? data[key] : undefined;
  const { protocol, host } = parseRepositoryUrl(url, { http: true });
  if (protocol === 'ssh') return sshCredentials(get);
  const ca = get('ca.crt') ?? get('caFile');
  const common = ca === undefined ? {} : { caBundle: ca };
  if (get('githubAppID') !== undefined) return { ...githubApp(get, host), ...common };
  const token = get('bearerToken');
  if (token !== undefined) return { kind: 'bearer', token: oneLine(token, 'bearerToken'), ...common };
  const username = get('username');
  const password = get('password');
  if (password !== undefined) {
    const user = username ?? TOKEN_USERS.find(([pattern]) => pattern.test(host))?.[1] ?? 'git';
    return { kind: 'basic', username: oneLine(user, 'username'), password: oneLine(password, 'password'), ...common };
  }
  if (username !== undefined) throw incomplete('has `username` but no `password`; add the password or token');
  if (get('identity') !== undefined) {
    throw incomplete(
      'holds an SSH key (`identity`), but the URL is for HTTPS; use an ssh:// URL, or `username` and `password`',
    );
  }
  return { kind: 'anonymous', ...common };
}

type Get = (key: string) => string | undefined;

function sshCredentials(get: Get): Credentials {
  const identity = get('identity');
  const knownHosts = get('known_hosts');
  if (identity === undefined) throw incomplete('has no `identity`, the private key that an SSH URL needs; add it');
  if (knownHosts === undefined) {
    throw new EspalierError(
      'GitHostUnknown',
      'The Secret has no `known_hosts`, so the SSH server could be anyone; add the lines that `ssh-keyscan` prints, once they are checked.',
      { retry: false },
    );
  }
  const publicKey = get('identity.pub');
  const passphrase = get('password');
  return {
    kind: 'ssh',
    identity,
    knownHosts,
    ...(publicKey === undefined ? {} : { publicKey }),
    ...(passphrase === undefined ? {} : { passphrase }),
  };
}

function githubApp(get: Get, host: string): Credentials {
  const [appId, installationId, privateKey] = [
    get('githubAppID'),
    get('githubAppInstallationID'),
    get('githubAppPrivateKey'),
  ];
  if (appId === undefined || installationId === undefined || privateKey === undefined) {
    throw incomplete(
      'describes a GitHub App in part only; it needs `githubAppID`, `githubAppInstallationID` and `githubAppPrivateKey`',
    );
  }
  if (!/^\d+$/.test(installationId.trim())) throw incomplete('has a `githubAppInstallationID` that is no number');
  const apiUrl =
    get('githubAppBaseURL') ?? (host === 'github.com' ? 'https://api.github.com' : `https://${host}/api/v3`);
  return {
    kind: 'githubApp',
    appId: appId.trim(),
    installationId: installationId.trim(),
    privateKey,
    apiUrl: apiUrl.replace(/\/+$/, ''),
  };
}

/** A trailing newline is how an editor saved it; one inside would end a header. */
function oneLine(value: string, key: string): string {
  const trimmed = value.replace(/[\r\n]+$/, '');
  if (/[\r\n\0]/.test(trimmed)) throw incomplete(`has a \`${key}\` of several lines`);
  return trimmed;
}

function incomplete(what: string): EspalierError {
  return new EspalierError('GitAuthFailed', `The Secret with the repository's credentials ${what}.`, { retry: false });
}

/** Everything in credentials that must never be seen. */
export function secretsOf(credentials: Credentials): string[] {
  switch (credentials.kind) {
    case 'anonymous':
      return [];
    case 'basic':
      return [credentials.password, `${credentials.username}:${credentials.password}`];
    case 'bearer':
      return [credentials.token];
    case 'ssh':
      return [credentials.identity, ...(credentials.passphrase === undefined ? [] : [credentials.passphrase])];
    case 'githubApp':
      return [credentials.privateKey];
  }
}

export function basicHeader(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** What an Authorization header holds that must never be seen. */
export function secretsOfHeader(header: string | undefined): string[] {
  const [kind = '', value = ''] = header?.split(' ') ?? [];
  if (value === '') return [];
  const pair = kind === 'Basic' ? Buffer.from(value, 'base64').toString() : '';
  return [value, ...(pair === '' ? [] : [pair, pair.slice(pair.indexOf(':') + 1)])];
}
