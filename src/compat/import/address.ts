/** The same repository may be written as https://, ssh:// or git@host:path, with `.git` or without. */
export function isSameRepository(a: string, b: string): boolean {
  return plainAddress(a) === plainAddress(b);
}

function plainAddress(url: string): string {
  const [, host = '', path = ''] =
    /^[a-z+]+:\/\/(?:[^@/]*@)?([^/:]+)(?::\d+)?\/(.*)$/i.exec(url) ?? /^(?:[^@/\s]+@)?([^:/\s]+):(.*)$/.exec(url) ?? [];
  if (host === '') return url;
  return `${host.toLowerCase()}/${path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '')}`;
}

/** A path as a Plugin names it, from the repository's root: `.` is the root itself. Undefined when it leads out. */
export function cleanPath(path: string): string | undefined {
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) return undefined;
  }
  return names.length === 0 ? '.' : names.join('/');
}

/** A branch, a tag or a commit, told by its looks where the other tool did not say which. */
export function refOfRevision(revision: string | undefined): Record<string, string> | undefined {
  if (revision === undefined || revision === 'HEAD') return undefined;
  if (/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(revision)) return { commit: revision };
  if (revision.startsWith('refs/heads/')) return { branch: revision.slice('refs/heads/'.length) };
  if (revision.startsWith('refs/tags/')) return { tag: revision.slice('refs/tags/'.length) };
  if (/^v?\d+(\.\d+)+([-+].*)?$/.test(revision)) return { tag: revision };
  if (/^[v~^<>=]?[=]?\s?\d*[\dxX*.]+$/.test(revision)) return { semver: revision };
  return { branch: revision };
}
