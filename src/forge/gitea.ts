import type { Ask, Question } from './ask.ts';
import { MOST_HOOKS } from './bounds.ts';
import type { Forge } from './forge.ts';
import { githubStyle } from './github-style.ts';
import { MARKER_LENGTH } from './marker.ts';
import { once } from './once.ts';
import { byLink, readPages } from './pages.ts';
import { at, idAt, listAt, textAt } from './shape.ts';

const PAGE = { limit: 50 };
const RIGHTS = {
  readRepository: 'the scope read:repository',
  statuses: 'the scope write:repository, and an account that may write to the repository',
  readPulls: 'the scope read:repository',
  writePulls: 'the scope write:repository, and an account that may write to the repository',
  comments: 'the scope write:issue, and an account that may read the repository',
  permission: 'the scope read:repository, and an account that administers the repository',
  hooks: 'the scope write:repository, and an account that administers the repository',
  account: 'the scope read:user',
};

/** Gitea and Forgejo. */
export function giteaForge(ask: Ask, path: readonly string[]): Omit<Forge, 'close'> {
  const name = path.join('/');
  const hooks = `/repos/${path.map(encodeURIComponent).join('/')}/hooks`;

  async function ensureWebhook(
    { url, secret }: { url: string; secret: string },
    signal: AbortSignal,
  ): Promise<'created' | 'changed'> {
    const common = { what: `the webhooks of ${name}`, needs: RIGHTS.hooks, secrets: [secret] };
    const list: Question = { method: 'GET', path: hooks, query: PAGE, ...common };
    const present = await readPages(ask, list, byLink, (body) => listAt(body), MOST_HOOKS, signal);
    const same = present.filter((hook) => at(hook, 'config.url') === url).map((hook) => idAt(hook, 'id'));
    // The secret of a hook can be neither read nor changed. So a new one is made, and then the old ones go.
    const body = {
      type: 'gitea',
      active: true,
      // `pull_request` stands for all that happens to one, comments and pushes to it included.
      events: ['push', 'pull_request', 'issue_comment'],
      config: { url, secret, content_type: 'json' },
    };
    await ask({ method: 'POST', path: hooks, body, ...common }, signal);
    for (const id of same) {
      await ask({ method: 'DELETE', path: `${hooks}/${encodeURIComponent(id)}`, ...common }, signal);
    }
    return same.length === 0 ? 'created' : 'changed';
  }

  return githubStyle(ask, path, {
    limits: { comment: 65_536 - MARKER_LENGTH, html: true },
    pageSize: PAGE,
    stateField: 'status',
    account: once(async (signal) => {
      const what = 'the account that the agent logs in as';
      const answer = await ask({ method: 'GET', path: '/user', what, needs: RIGHTS.account }, signal);
      return textAt(answer.body, 'login');
    }),
    rights: RIGHTS,
    ensureWebhook,
  });
}
