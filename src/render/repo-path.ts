/** A reference from a folder of the repository, as a path from its root; undefined when it leads out of it. */
export function resolvePath(folder: string, reference: string): string | undefined {
  const names = folder === '' ? [] : folder.split('/');
  for (const name of reference.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) return undefined;
  }
  return names.join('/');
}

/** The way from one folder to a path, always beginning with a dot, so that nobody takes it for a host or a URL. */
export function relativePath(folder: string, path: string): string {
  const [from, to] = [folder, path].map((one) => (one === '' ? [] : one.split('/')));
  if (from === undefined || to === undefined) return '.';
  let shared = 0;
  while (shared < from.length && from[shared] === to[shared]) shared++;
  const up = from.slice(shared).map(() => '..');
  return ['.', ...up, ...to.slice(shared)].join('/');
}

export function isWithin(folder: string, path: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}

/** For a better message only: whatever is not in the repository is refused, whatever it looks like. */
export function looksRemote(reference: string): boolean {
  return (
    /^[a-z][a-z0-9+.-]*:/i.test(reference) ||
    /^[\w.-]+@/.test(reference) ||
    /^(www\.)?[\w-]+\.(com|org|io|net|dev)[/:]/i.test(reference) ||
    /\?(ref|version|timeout|submodules)=/.test(reference) ||
    /\.git(\/|$|\?)/.test(reference)
  );
}
