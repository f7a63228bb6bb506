import { createHash } from 'node:crypto';
import { EspalierError } from '../api/index.ts';
import { createDialer, type Dialer, type ProxySettings } from '../git/dial.ts';
import { appToken, InstallationToken } from '../git/githubapp.ts';
import type { UrlPolicy } from '../git/url.ts';
import { type Ask, createAsk } from './ask.ts';
import { bitbucketCloudForge } from './bitbucket-cloud.ts';
import { bitbucketServerForge } from './bitbucket-server.ts';
import type { Forge } from './forge.ts';
import { giteaForge } from './gitea.ts';
import { APP_HOOK_PERMISSIONS, APP_PERMISSIONS, type AppVoice, GITHUB_HEADERS, githubForge } from './github.ts';
import { gitlabForge } from './gitlab.ts';
import { Gates, type Window } from './limit.ts';
import { type Login, loginFromSecret } from './login.ts';
import { type ForgeKind, type Place, placeOf } from './place.ts';

export interface ForgeOptions {
  kind: ForgeKind;
  /** As in the Sync: https, ssh:// or `git@host:path`. */
  repositoryUrl: string;
  /** Address of the forge. Absent: that of the repository's host. */
  url?: string | undefined;
  /** Data of the Secret, decoded: a login, and perhaps `ca.crt`. */
  secret: Record<string, string>;
  policy: UrlPolicy;
  caBundle?: string | undefined;
  proxy?: ProxySettings | undefined;
  /** For one request with its answer. */
  timeoutMs?: number | undefined;
  now(): number;
  /** Shared by all that one agent opens: accounts have limits, not repositories. */
  gates?: Gates | undefined;
}

const TIMEOUT_MS = 15_000;
const CONNECT_MS = 10_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** How many content writes an account has; what the forge itself says comes on top. */
const BUDGETS: Readonly<Record<Place['dialect'], readonly Window[]>> = {
  github: [
    { ms: MINUTE, most: 80 },
    { ms: HOUR, most: 500 },
  ],
  gitlab: [{ ms: MINUTE, most: 60 }],
  'bitbucket-cloud': [{ ms: HOUR, most: 900 }],
  // One's own servers: they say when it is too much.
  gitea: [],
  'bitbucket-server': [],
};

/** A repository on its forge. Asks nothing yet; what is wrong with the options is an error at once. */
export function openForge(options: ForgeOptions): Forge {
  const place = placeOf(options);
  const login = loginFromSecret(options.secret);
  if (login.kind === 'app' && place.dialect !== 'github') {
    throw new EspalierError(
      'ForgeAuthFailed',
      `The Secret of \`spec.forge\` describes a GitHub App, but the forge is ${options.kind}; put an access token into its key \`token\`.`,
      { retry: false },
    );
  }
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const dialer = createDialer({
    policy: options.policy,
    caBundle: options.caBundle ?? options.secret['ca.crt'],
    proxy: options.proxy,
    connectTimeoutMs: Math.min(CONNECT_MS, timeoutMs),
  });
  const voice = voiceOf(login, place, dialer, options);
  const kept = secretsBeside(options.secret);
  const account = createHash('sha256')
    .update(JSON.stringify([place.api, login.secrets]))
    .digest('hex');
  const ask = createAsk({
    api: place.api,
    dialer,
    policy: options.policy,
    timeoutMs,
    now: options.now,
    gate: (options.gates ?? new Gates()).of(account, BUDGETS[place.dialect]),
    keys: login.keys,
    headers: place.dialect === 'github' ? GITHUB_HEADERS : {},
    authorize: voice.authorize,
    secrets: () => [...voice.secrets(), ...kept],
  });
  return { ...forgeAt(place, ask, voice.app), close: () => dialer.close() };
}

function forgeAt(place: Place, ask: Ask, app: AppVoice | undefined): Omit<Forge, 'close'> {
  switch (place.dialect) {
    case 'github':
      return githubForge(ask, place.path, app);
    case 'gitea':
      return giteaForge(ask, place.path);
    case 'gitlab':
      return gitlabForge(ask, place.path);
    case 'bitbucket-cloud':
      return bitbucketCloudForge(ask, place.path, place.web);
    case 'bitbucket-server':
      return bitbucketServerForge(ask, place.path, place.web);
  }
}

interface Voice {
  authorize(signal: AbortSignal): Promise<string>;
  secrets(): readonly string[];
  app: AppVoice | undefined;
}

function voiceOf(login: Login, place: Place, dialer: Dialer, options: ForgeOptions): Voice {
  if (login.kind === 'token') {
    const secrets = [...login.secrets, ...proxySecrets(options.proxy)];
    return { authorize: async () => login.header, secrets: () => secrets, app: undefined };
  }
  const { appId, installationId, privateKey } = login;
  const credentials = { kind: 'githubApp', appId, installationId, privateKey, apiUrl: place.api } as const;
  const daily = new InstallationToken(credentials, dialer, options.policy, options.now, APP_PERMISSIONS);
  const hooks = new InstallationToken(credentials, dialer, options.policy, options.now, APP_HOOK_PERMISSIONS);
  let spoken: string | undefined;
  return {
    authorize: async (signal) => `Bearer ${await daily.get(signal)}`,
    secrets: () => [
      ...login.secrets,
      ...proxySecrets(options.proxy),
      ...[daily.current, hooks.current, spoken].filter((token) => token !== undefined),
    ],
    app: {
      asApp: async () => {
        spoken = appToken(credentials, options.now());
        return `Bearer ${spoken}`;
      },
      forHooks: async (signal) => `Bearer ${await hooks.get(signal)}`,
    },
  };
}

/** The same forge knows the password of Git and the secret of its webhooks, and may repeat them. */
function secretsBeside(secret: Readonly<Record<string, string>>): string[] {
  return ['token', 'bearerToken', 'password', 'webhookSecret'].map((key) => secret[key]?.trim() ?? '');
}

function proxySecrets(proxy: ProxySettings | undefined): string[] {
  const password = URL.parse(proxy?.url ?? '')?.password ?? '';
  return password === '' ? [] : [decodeURIComponent(password), password];
}
