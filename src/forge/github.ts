import type { AppPermissions } from '../git/githubapp.ts';
import type { Ask, Question } from './ask.ts';
import { MOST_HOOKS } from './bounds.ts';
import type { Forge } from './forge.ts';
import { githubStyle } from './github-style.ts';
import { MARKER_LENGTH } from './marker.ts';
import { once } from './once.ts';
import { byLink, readPages } from './pages.ts';
import { at, idAt, listAt, textAt } from './shape.ts';

/** What an installation's token is asked for in daily work, and for making a webhook. */
export const APP_PERMISSIONS: AppPermissions = {
  metadata: 'read',
  statuses: 'write',
  pull_requests: 'write',
  issues: 'write',
};
export const APP_HOOK_PERMISSIONS: AppPermissions = { repository_hooks: 'write' };
export const GITHUB_HEADERS = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' };

const PAGE = { per_page: 100 };
const RIGHTS = {
  readRepository: 'the permission "Metadata: read" (classic token: scope repo)',
  statuses: 'the permission "Commit statuses: write" (classic token: scope repo:status)',
  readPulls: 'the permission "Pull requests: read" (classic token: scope repo)',
  writePulls: 'the permission "Pull requests: write" (classic token: scope repo)',
  comments: 'the permissions "Pull requests: write" and "Issues: write" (classic token: scope repo)',
  permission: 'the permission "Metadata: read", and write access to the repository (classic token: scope repo)',
  hooks: 'the permission "Webhooks: write" (classic token: scope admin:repo_hook)',
  account: 'a token of a user or of a GitHub App',
};

/** How a GitHub App speaks for itself, where the login is one. */
export interface AppVoice {
  /** For questions about the App. */
  asApp(signal: AbortSignal): Promise<string>;
  /** For webhooks. */
  forHooks(signal: AbortSignal): Promise<string>;
}

export function githubForge(ask: Ask, path: readonly string[], app: AppVoice | undefined): Omit<Forge, 'close'> {
  const name = path.join('/');
  const hooks = `/repos/${path.map(encodeURIComponent).join('/')}/hooks`;

  async function ensureWebhook(
    { url, secret }: { url: string; secret: string },
    signal: AbortSignal,
  ): Promise<'created' | 'changed'> {
    const common = {
      what: `the webhooks of ${name}`,
      needs: RIGHTS.hooks,
      secrets: [secret],
      ...(app === undefined ? {} : { authorize: app.forHooks }),
    };
    const list: Question = { method: 'GET', path: hooks, query: PAGE, ...common };
    const present = await readPages(ask, list, byLink, (body) => listAt(body), MOST_HOOKS, signal);
    const same = present.find((hook) => at(hook, 'config.url') === url);
    const body = {
      active: true,
      events: ['push', 'pull_request', 'issue_comment'],
      config: { url, secret, content_type: 'json', insecure_ssl: '0' },
    };
    if (same === undefined) {
      await ask({ method: 'POST', path: hooks, body: { name: 'web', ...body }, ...common }, signal);
      return 'created';
    }
    const one = `${hooks}/${encodeURIComponent(idAt(same, 'id'))}`;
    await ask({ method: 'PATCH', path: one, body, ...common }, signal);
    return 'changed';
  }

  return githubStyle(ask, path, {
    limits: { comment: 65_536 - MARKER_LENGTH, html: true },
    pageSize: PAGE,
    stateField: 'state',
    account: once(async (signal) => {
      const common = { method: 'GET', what: 'the account that the agent logs in as', needs: RIGHTS.account } as const;
      if (app === undefined) return textAt((await ask({ path: '/user', ...common }, signal)).body, 'login');
      // An installation is no user; what it writes is by the bot that is named after the App.
      const answer = await ask({ path: '/app', authorize: app.asApp, ...common }, signal);
      return `${textAt(answer.body, 'slug')}[bot]`;
    }),
    rights: RIGHTS,
    ensureWebhook,
  });
}
