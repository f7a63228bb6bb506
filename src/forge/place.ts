import { EspalierError } from '../api/index.ts';
import { matchesHost, parseRepositoryUrl, type RepositoryUrl, type UrlPolicy } from '../git/url.ts';

export type ForgeKind = 'github' | 'gitlab' | 'gitea' | 'forgejo' | 'bitbucket';

/** Where a repository is on its forge. */
export interface Place {
  /** Which API it speaks. */
  dialect: 'github' | 'gitlab' | 'gitea' | 'bitbucket-cloud' | 'bitbucket-server';
  /** Root of the API, without a slash at its end. */
  api: string;
  /** Root of its pages, the same way. */
  web: string;
  /** `['group', 'subgroup', 'project']`, not encoded. */
  path: string[];
}

export interface PlaceOptions {
  kind: ForgeKind;
  repositoryUrl: string;
  /** Address of the forge. Absent: that of the repository's host. */
  url?: string | undefined;
  policy: UrlPolicy;
}

export function placeOf(options: PlaceOptions): Place {
  const { kind, policy } = options;
  const repository = parseRepositoryUrl(options.repositoryUrl, policy);
  const own = ownPath(repository.href);
  const given = options.url === undefined ? undefined : addressOf(options.url, policy);
  const host = given?.hostname ?? repository.host;
  const web = given === undefined ? addressOfHost(repository, kind, own) : trimmed(given.href);
  const prefix = new URL(web).pathname.split('/').filter((part) => part !== '');
  const below = prefix.every((part, at) => own[at] === part) ? own.slice(prefix.length) : own;
  switch (kind) {
    case 'github': {
      const hosted = /^(www\.|api\.)?github\.com$/.test(host);
      const root = web.replace(/\/api\/v3$/, '');
      return {
        dialect: 'github',
        api: hosted ? 'https://api.github.com' : `${root}/api/v3`,
        web: hosted ? 'https://github.com' : root,
        path: exactly(2, below, options),
      };
    }
    case 'gitlab': {
      const root = web.replace(/\/api\/v4$/, '');
      return { dialect: 'gitlab', api: `${root}/api/v4`, web: root, path: atLeastTwo(below, options) };
    }
    case 'gitea':
    case 'forgejo': {
      const root = web.replace(/\/api\/v1$/, '');
      return { dialect: 'gitea', api: `${root}/api/v1`, web: root, path: exactly(2, below, options) };
    }
    case 'bitbucket': {
      if (/^(www\.|api\.)?bitbucket\.org$/.test(host)) {
        return {
          dialect: 'bitbucket-cloud',
          api: 'https://api.bitbucket.org/2.0',
          web: 'https://bitbucket.org',
          path: exactly(2, below, options),
        };
      }
      const path = below[0] === 'scm' ? below.slice(1) : below;
      return { dialect: 'bitbucket-server', api: `${web}/rest`, web, path: exactly(2, path, options) };
    }
  }
}

/** The parts of a repository's path, `.git` left out. */
function ownPath(href: string): string[] {
  const path = href.includes('://') ? new URL(href).pathname : href.replace(/^[^@]*@(\[[^\]]*\]|[^:]*):/, '');
  const parts = path
    .replace(/\.git$/, '')
    .split('/')
    .filter((part) => part !== '');
  return parts.map(decoded);
}

/** Over SSH the port is another one than that of the API, so it does not count. */
function addressOfHost({ protocol, host, href }: RepositoryUrl, kind: ForgeKind, own: string[]): string {
  if (protocol === 'ssh') return `https://${host.includes(':') ? `[${host}]` : host}`;
  // Data Center clones from `<address>/scm/…`, so what stands before is part of the address.
  const scm = kind === 'bitbucket' ? own.lastIndexOf('scm', own.length - 3) : -1;
  const context = scm > 0 ? `/${own.slice(0, scm).map(encodeURIComponent).join('/')}` : '';
  return `${new URL(href).origin}${context}`;
}

function addressOf(text: string, policy: UrlPolicy): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) throw wrongUrl('is no https URL');
  if (url.protocol === 'http:' && policy.http !== true)
    throw wrongUrl('is plain http, which is not allowed; use https');
  if (url.username !== '' || url.password !== '') throw wrongUrl('holds credentials; they belong into its Secret');
  if (url.search !== '' || url.hash !== '') throw wrongUrl('has a question mark or a hash, which mean nothing in it');
  if (policy.hosts !== undefined && !policy.hosts.some((pattern) => matchesHost(url.hostname, pattern))) {
    throw wrongUrl(`leads to ${url.hostname}, a host that is not among those allowed`);
  }
  return url;
}

function exactly(count: number, path: string[], options: PlaceOptions): string[] {
  if (path.length === count && path.every(isName)) return path;
  throw new EspalierError(
    'ForgeRefused',
    `On ${options.kind} a repository's path is owner/name, but that of \`spec.repository.url\` is ${JSON.stringify(path.join('/').slice(0, 200))}; correct it, or \`spec.forge.url\` where the forge is not at the root of its host.`,
    { retry: false },
  );
}

function atLeastTwo(path: string[], options: PlaceOptions): string[] {
  return path.length >= 2 && path.every(isName) ? path : exactly(2, path, options);
}

/** A part such as `..` would lead to another call of the API. */
function isName(part: string): boolean {
  return part !== '.' && part !== '..' && !part.includes('/');
}

function wrongUrl(why: string): EspalierError {
  return new EspalierError('ForgeRefused', `\`spec.forge.url\` ${why}.`, { retry: false });
}

function trimmed(href: string): string {
  return href.replace(/\/+$/, '');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
