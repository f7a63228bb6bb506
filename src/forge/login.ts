import { EspalierError } from '../api/index.ts';
import { basicHeader } from '../git/credentials.ts';

/** How the agent logs in to a forge, as the Secret says. */
export type Login = (
  | { kind: 'token'; header: string }
  | { kind: 'app'; appId: string; installationId: string; privateKey: string }
) & {
  /** The keys of the Secret that it comes from, for errors: "`token`". */
  keys: string;
  /** What must never be seen. */
  secrets: string[];
};

/** Reads a Secret (its data decoded). No message holds a value. */
export function loginFromSecret(secret: Readonly<Record<string, string>>): Login {
  const get = (key: string): string | undefined => {
    const value = Object.hasOwn(secret, key) ? secret[key]?.trim() : undefined;
    return value === '' ? undefined : value;
  };
  if (get('githubAppID') !== undefined) return appLogin(get);
  for (const key of ['token', 'bearerToken']) {
    const token = get(key);
    if (token === undefined) continue;
    return { kind: 'token', header: `Bearer ${visible(token, key)}`, keys: `\`${key}\``, secrets: [token] };
  }
  const username = get('username');
  const password = get('password');
  if (username !== undefined && password !== undefined) {
    const header = basicHeader(visible(username, 'username'), visible(password, 'password'));
    const secrets = [password, `${username}:${password}`];
    return { kind: 'token', header, keys: '`username` and `password`', secrets };
  }
  throw incomplete(
    'holds no login: put an access token into its key `token` (or `username` and `password`, or for a GitHub App `githubAppID`, `githubAppInstallationID` and `githubAppPrivateKey`)',
  );
}

function appLogin(get: (key: string) => string | undefined): Login {
  const appId = get('githubAppID');
  const installationId = get('githubAppInstallationID');
  const privateKey = get('githubAppPrivateKey');
  if (appId === undefined || installationId === undefined || privateKey === undefined) {
    throw incomplete(
      'describes a GitHub App in part only; it needs `githubAppID`, `githubAppInstallationID` and `githubAppPrivateKey`',
    );
  }
  if (!/^\d+$/.test(installationId)) throw incomplete('has a `githubAppInstallationID` that is no number');
  const keys = '`githubAppID`, `githubAppInstallationID` and `githubAppPrivateKey`';
  return { kind: 'app', appId, installationId, privateKey, keys, secrets: [privateKey] };
}

/** What goes into a header is one line of what a keyboard has. */
function visible(value: string, key: string): string {
  if (!/^[\x21-\x7e]+$/.test(value) && key !== 'username' && key !== 'password') {
    throw incomplete(`has a \`${key}\` with blanks, line breaks or other characters that no token has`);
  }
  return value;
}

function incomplete(what: string): EspalierError {
  return new EspalierError('ForgeAuthFailed', `The Secret of \`spec.forge\` ${what}.`, { retry: false });
}
