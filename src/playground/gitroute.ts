export type GitService = 'git-upload-pack' | 'git-receive-pack';

export interface GitRoute {
  repository: string;
  service: GitService;
  /** `refs` lists what there is, `exchange` moves objects. */
  step: 'refs' | 'exchange';
}

/** What a request asks for; undefined when it is none of the four that smart HTTP knows. */
export function routeOf(method: string, target: string): GitRoute | undefined {
  const [path = '', query = ''] = split(target, '?');
  const found = /^\/([a-z0-9/-]+)\.git\/(info\/refs|git-upload-pack|git-receive-pack)$/.exec(path);
  if (found === null) return undefined;
  const [, repository = '', last = ''] = found;
  if (last === 'info/refs') {
    const service = asService(new URLSearchParams(query).get('service'));
    return method === 'GET' && service !== undefined ? { repository, service, step: 'refs' } : undefined;
  }
  const service = asService(last);
  return method === 'POST' && service !== undefined ? { repository, service, step: 'exchange' } : undefined;
}

function asService(text: string | null): GitService | undefined {
  return text === 'git-upload-pack' || text === 'git-receive-pack' ? text : undefined;
}

function split(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
