import { createPrivateKey, sign } from 'node:crypto';
import { EspalierError } from '../api/index.ts';
import type { Credentials } from './credentials.ts';
import type { Dialer } from './dial.ts';
import { exchange, readWhole } from './http.ts';
import type { UrlPolicy } from './url.ts';

type AppCredentials = Extract<Credentials, { kind: 'githubApp' }>;

/** A token is renewed this long before it ends: one that is used for a fetch must outlive it. */
const SPARE_MS = 5 * 60_000;
const LARGEST_ANSWER = 1024 * 1024;

/** What a token may do, in GitHub's words: `{ contents: 'read' }`. */
export type AppPermissions = Readonly<Record<string, 'read' | 'write'>>;

/** Gives the installation's token, asked for once and kept until shortly before it ends. */
export class InstallationToken {
  readonly #credentials: AppCredentials;
  readonly #dialer: Dialer;
  readonly #policy: UrlPolicy;
  readonly #now: () => number;
  readonly #permissions: AppPermissions;
  #held: { token: string; until: number } | undefined;

  constructor(
    credentials: AppCredentials,
    dialer: Dialer,
    policy: UrlPolicy,
    now: () => number,
    permissions: AppPermissions = { contents: 'read' },
  ) {
    this.#credentials = credentials;
    this.#dialer = dialer;
    this.#policy = policy;
    this.#now = now;
    this.#permissions = permissions;
  }

  /** The token in use, for redaction. */
  get current(): string | undefined {
    return this.#held?.token;
  }

  async get(signal: AbortSignal): Promise<string> {
    if (this.#held === undefined || this.#held.until - SPARE_MS <= this.#now()) this.#held = await this.#ask(signal);
    return this.#held.token;
  }

  async #ask(signal: AbortSignal): Promise<{ token: string; until: number }> {
    const { apiUrl, installationId } = this.#credentials;
    const answer = await exchange(this.#dialer, this.#policy, {
      method: 'POST',
      url: `${apiUrl}/app/installations/${installationId}/access_tokens`,
      headers: { accept: 'application/vnd.github+json', 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ permissions: this.#permissions })),
      authorization: `Bearer ${appToken(this.#credentials, this.#now())}`,
      signal,
    });
    const body = await readWhole(answer.body, LARGEST_ANSWER);
    const { token, expires_at: expires } = parseAnswer(body?.toString('utf8') ?? '');
    if (answer.status === 201 && token !== undefined)
      return { token, until: Date.parse(expires ?? '') || this.#now() + 3_600_000 };
    throw new EspalierError(
      answer.status === 429 || answer.status >= 500 ? 'GitUnreachable' : 'GitAuthFailed',
      `GitHub gave no token for installation ${installationId} (${answer.status}); check the App's id, its key, and that it is installed with these permissions: ${this.#wanted()}.`,
      { data: { status: answer.status } },
    );
  }

  #wanted(): string {
    return Object.entries(this.#permissions)
      .map(([name, level]) => `${name}: ${level}`)
      .join(', ');
  }
}

function parseAnswer(text: string): { token?: string; expires_at?: string } {
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer !== 'object' || answer === null) return {};
    const { token, expires_at: expires } = answer as { token?: unknown; expires_at?: unknown };
    return {
      ...(typeof token === 'string' ? { token } : {}),
      ...(typeof expires === 'string' ? { expires_at: expires } : {}),
    };
  } catch {
    return {};
  }
}

/** The JSON Web Token that proves to be the App. It starts a minute ago, for clocks that differ. */
export function appToken(credentials: Pick<AppCredentials, 'appId' | 'privateKey'>, now: number): string {
  const seconds = Math.floor(now / 1000);
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode({ iat: seconds - 60, exp: seconds + 540, iss: credentials.appId })}`;
  try {
    return `${claims}.${sign('RSA-SHA256', Buffer.from(claims), createPrivateKey(credentials.privateKey)).toString('base64url')}`;
  } catch {
    // The cause may quote the key.
    throw new EspalierError('GitAuthFailed', '`githubAppPrivateKey` is no RSA private key in PEM form.', {
      retry: false,
    });
  }
}
