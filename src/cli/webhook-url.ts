import { EspalierError } from '../api/errors.ts';

/** Where the agent answers, as a person says it: its address, perhaps with a path that a proxy takes away. */
export function agentUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) throw wrong(`"${text}" is no https URL`);
  if (url.username !== '' || url.password !== '') {
    throw wrong('it holds a login, which the forge would show to whoever may see webhooks; leave that out');
  }
  if (url.search !== '' || url.hash !== '') throw wrong(`"${text}" has a question mark or a hash; leave that out`);
  if (/\/hooks(\/[^/]*){0,3}$/.test(url.pathname)) {
    throw wrong(`"${text}" ends in a path of a webhook; give the address of the agent alone, /hooks/… is added to it`);
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** What the forge is to call for a Sync. */
export function hookUrl(agent: URL, namespace: string, sync: string): string {
  return `${agent.href.replace(/\/+$/, '')}/hooks/${encodeURIComponent(namespace)}/${encodeURIComponent(sync)}`;
}

function wrong(why: string): EspalierError {
  return new EspalierError('InvalidConfiguration', `--url: ${why}`, { retry: false });
}
