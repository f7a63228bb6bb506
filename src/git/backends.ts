import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EspalierError, isError } from '../api/index.ts';
import type { Backend } from './backend.ts';
import { builtinBackend } from './builtin.ts';
import { basicHeader, type Credentials, secretsOf } from './credentials.ts';
import { createDialer, type Dialer, type ProxySettings } from './dial.ts';
import { InstallationToken } from './githubapp.ts';
import { findGit } from './gitprogram.ts';
import { exists } from './layout.ts';
import type { GitLimits } from './limits.ts';
import type { ObjectStore } from './objectstore.ts';
import { systemBackend } from './system.ts';
import type { RepositoryUrl, UrlPolicy } from './url.ts';

/** `auto`: the program `git` for SSH and for what proved large, if there is one; our own for all else. */
export type BackendChoice = 'builtin' | 'system' | 'auto';

export interface BackendsOptions {
  dir: string;
  url: RepositoryUrl;
  policy: UrlPolicy;
  limits: GitLimits;
  timeoutMs: number;
  credentials: Credentials;
  store: ObjectStore;
  caBundle?: string | undefined;
  knownHosts?: string | undefined;
  proxy?: ProxySettings | undefined;
  backend?: BackendChoice | undefined;
  gitPath?: string | null | undefined;
  now?: (() => number) | undefined;
}

/** A fetch that takes longer goes through the program `git` the next time. */
const LONG_MS = 20_000;
const CONNECT_MS = 10_000;

/** The ways to reach one repository, each made when it is first used. */
export class Backends {
  readonly #options: BackendsOptions;
  readonly #dialer: Dialer;
  readonly #marker: string;
  readonly #token: InstallationToken | undefined;
  readonly #writing: InstallationToken | undefined;
  #builtin: Backend | undefined;
  #system: Backend | undefined;

  constructor(options: BackendsOptions) {
    const { policy, proxy, timeoutMs, credentials, dir } = options;
    this.#options = options;
    this.#marker = join(dir, 'large');
    this.#dialer = createDialer({
      policy,
      proxy,
      caBundle: this.#caBundle(),
      connectTimeoutMs: Math.min(CONNECT_MS, timeoutMs),
    });
    const { now = Date.now } = options;
    if (credentials.kind !== 'githubApp') return;
    this.#token = new InstallationToken(credentials, this.#dialer, policy, now);
    this.#writing = new InstallationToken(credentials, this.#dialer, policy, now, { contents: 'write' });
  }

  /** Over https never the program: it can take a web page for an empty repository, and that would read as a missing branch. */
  async forListing(): Promise<Backend> {
    return this.#options.url.protocol === 'ssh' ? this.#useSystem() : this.#useBuiltin();
  }

  async forFetch(): Promise<Backend> {
    const { backend = 'auto', url } = this.#options;
    if (url.protocol === 'ssh') return this.#useSystem();
    const large = backend === 'auto' && (await exists(this.#marker)) && (await this.#git()) !== undefined;
    return backend === 'system' || large ? this.#vouched(await this.#useSystem()) : this.#useBuiltin();
  }

  async forPush(): Promise<Backend> {
    const { backend = 'auto', url } = this.#options;
    return url.protocol === 'ssh' || backend === 'system' ? this.#useSystem() : this.#useBuiltin();
  }

  /** A fetch by the program whose finding that something is missing counts only when the server is one that speaks Git. */
  #vouched(system: Backend): Backend {
    const builtin = this.#useBuiltin();
    return {
      ...system,
      async fetch(request, signal) {
        try {
          return await system.fetch(request, signal);
        } catch (error) {
          if (isError(error, 'GitRefMissing', 'GitNotFound', 'GitProtocolError'))
            await builtin.listRefs(['HEAD'], signal);
          throw error;
        }
      },
    };
  }

  /** All that must not be seen of the credentials in use. */
  get secrets(): string[] {
    const tokens = [this.#token?.current, this.#writing?.current].filter((token) => token !== undefined);
    return [...secretsOf(this.#options.credentials), ...tokens];
  }

  /** Notes how a fetch went, for the choice at the next one. */
  async remember(bytes: number, ms: number): Promise<void> {
    if (bytes > this.#options.limits.largeBytes || ms > LONG_MS)
      await writeFile(this.#marker, `${bytes} bytes in ${Math.round(ms)} ms\n`);
  }

  /** Whether the program `git` is there, which rebuilds the store without asking a server. */
  async hasProgram(): Promise<boolean> {
    return (await this.#git()) !== undefined;
  }

  async close(): Promise<void> {
    await this.#dialer.close();
  }

  #useBuiltin(): Backend {
    this.#builtin ??= builtinBackend({
      ...this.#options,
      url: this.#options.url.href,
      dialer: this.#dialer,
      authorize: (signal) => this.#authorize(this.#token, signal),
      authorizePush: (signal) => this.#authorize(this.#writing, signal),
    });
    return this.#builtin;
  }

  async #useSystem(): Promise<Backend> {
    const path = await this.#git();
    if (path === undefined) {
      throw new EspalierError(
        'ToolMissing',
        `${this.#options.url.href} needs the program git, which is not installed; use an https URL or install git and ssh.`,
      );
    }
    this.#system ??= systemBackend({
      ...this.#options,
      path,
      caBundle: this.#caBundle(),
      authorize: (signal) => this.#authorize(this.#token, signal),
      authorizePush: (signal) => this.#authorize(this.#writing, signal),
    });
    return this.#system;
  }

  async #git(): Promise<string | undefined> {
    const { gitPath } = this.#options;
    return gitPath === undefined ? findGit() : (gitPath ?? undefined);
  }

  #caBundle(): string | undefined {
    const both = [this.#options.caBundle, this.#options.credentials.caBundle].filter(
      (pem) => pem !== undefined && pem !== '',
    );
    return both.length === 0 ? undefined : both.join('\n');
  }

  async #authorize(app: InstallationToken | undefined, signal: AbortSignal): Promise<string | undefined> {
    const { credentials } = this.#options;
    switch (credentials.kind) {
      case 'anonymous':
      case 'ssh':
        return undefined;
      case 'basic':
        return basicHeader(credentials.username, credentials.password);
      case 'bearer':
        return `Bearer ${credentials.token}`;
      case 'githubApp': {
        const token = await app?.get(signal);
        return token === undefined ? undefined : basicHeader('x-access-token', token);
      }
    }
  }
}
