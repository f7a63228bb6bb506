import { isError } from '../api/index.ts';
import type { Ask, Question } from './ask.ts';
import { BITBUCKET_LIMITS, buildOf, stateOf } from './bitbucket.ts';
import { MOST_COMMENTS, MOST_HOOKS, MOST_PULL_REQUESTS, MOST_STATUSES } from './bounds.ts';
import type { Comment, CommitStatus, Forge, PullRequest } from './forge.ts';
import { bears, isMarked } from './marker.ts';
import { once } from './once.ts';
import { orNone } from './or-none.ts';
import { fromOthers, type StoredComment, upsertOwn } from './own-comment.ts';
import { byNextField, readPages } from './pages.ts';
import { bitbucketCloudProposal } from './proposal-words.ts';
import { propose } from './propose.ts';
import { putHook } from './put-hook.ts';
import { at, commitAt, idAt, listAt, numberAt, otherShape, textAt, textOrNothing, timeAt } from './shape.ts';

const RIGHTS = {
  read: 'the scope repository',
  statuses: 'the scope repository:write',
  pulls: 'the scope pullrequest',
  writePulls: 'the scope pullrequest:write',
  comments: 'the scope pullrequest:write',
  permission: 'the scopes account and repository:admin, and an account that administers the repository',
  hooks: 'the scope webhook, and an account that administers the repository',
  account: 'the scope account (API token: read:user:bitbucket)',
};
const EVENTS = [
  'repo:push',
  ...['created', 'updated', 'fulfilled', 'rejected'].map((event) => `pullrequest:${event}`),
  ...['comment_created', 'comment_updated', 'comment_deleted'].map((event) => `pullrequest:${event}`),
];
const PAGE = { pagelen: 100 };
const PULLS_PAGE = { pagelen: 50 };
/** Bitbucket tells the two times of an untouched comment a moment apart. */
const SAME_MOMENT_MS = 1000;
const KNOWN_HEADS = 1000;

export function bitbucketCloudForge(ask: Ask, path: readonly string[], web: string): Omit<Forge, 'close'> {
  const name = path.join('/');
  const [workspace = '', slug = ''] = path.map(encodeURIComponent);
  const repo = `/repositories/${workspace}/${slug}`;
  const heads = new Map<string, string>();

  function all<T>(question: Question, items: (body: unknown) => T[], most: number, signal: AbortSignal): Promise<T[]> {
    return readPages(ask, { ...question, query: { ...PAGE, ...question.query } }, byNextField, items, most, signal);
  }

  const repository: Question = { method: 'GET', path: repo, what: `the repository ${name}`, needs: RIGHTS.read };

  /** Repository access tokens may not ask who they are; what they write tells. */
  let learned: string | undefined;
  const asked = once(async (signal) => {
    const what = 'the account that the agent logs in as';
    try {
      return textAt((await ask({ method: 'GET', path: '/user', what, needs: RIGHTS.account }, signal)).body, 'uuid');
    } catch (error) {
      if (!isError(error, 'ForgeAuthFailed') || error.data.status !== 403) throw error;
      return undefined;
    }
  });
  const account = async (signal: AbortSignal): Promise<string | undefined> => learned ?? (await asked(signal));

  async function listComments(number: number, signal: AbortSignal): Promise<(Comment & StoredComment)[]> {
    const own = await account(signal);
    const question: Question = {
      method: 'GET',
      path: `${repo}/pullrequests/${number}/comments`,
      what: `the comments on pull request ${number} of ${name}`,
      needs: RIGHTS.pulls,
    };
    const kept = (body: unknown): unknown[] => listAt(body, 'values').filter((item) => at(item, 'deleted') !== true);
    return all(question, (body) => kept(body).map((item) => readComment(item, own)), MOST_COMMENTS, signal);
  }

  /**
   * Pull requests name their head by the first twelve characters only; its commits are named whole. Undefined where the two
   * don't fit: somebody pushed in between, and the next look has both.
   */
  async function readPull(item: unknown, signal: AbortSignal): Promise<PullRequest | undefined> {
    const number = numberAt(item, 'id');
    const short = textAt(item, 'source.commit.hash');
    const known = heads.get(`${number} ${short}`);
    if (known !== undefined) return pullOf(item, known);
    const what = `the commits of pull request ${number} of ${name}`;
    const commits = {
      path: `${repo}/pullrequests/${number}/commits`,
      query: { pagelen: 1 },
      what,
      needs: RIGHTS.pulls,
    };
    const [first] = listAt((await ask({ method: 'GET', ...commits }, signal)).body, 'values');
    const whole = commitAt(first, 'hash');
    if (!whole.startsWith(short)) return undefined;
    heads.set(`${number} ${short}`, whole);
    for (const oldest of heads.keys()) {
      if (heads.size <= KNOWN_HEADS) break;
      heads.delete(oldest);
    }
    return pullOf(item, whole);
  }

  return {
    limits: BITBUCKET_LIMITS,
    async setStatus(commit, status, signal) {
      const sha = encodeURIComponent(commit);
      await ask(
        {
          method: 'POST',
          path: `${repo}/commit/${sha}/statuses/build`,
          body: buildOf(status, `${web}/${workspace}/${slug}/commits/${sha}`),
          what: `the status ${status.context} of commit ${commit.slice(0, 12)} in ${name}`,
          needs: RIGHTS.statuses,
          paced: true,
        },
        signal,
      );
    },
    statuses: (commit, signal) =>
      all(
        {
          method: 'GET',
          path: `${repo}/commit/${encodeURIComponent(commit)}/statuses`,
          what: `the statuses of commit ${commit.slice(0, 12)} in ${name}`,
          needs: RIGHTS.read,
        },
        (body) => listAt(body, 'values').map(readStatus),
        MOST_STATUSES,
        signal,
      ),
    async openPullRequests(signal) {
      const question: Question = {
        method: 'GET',
        path: `${repo}/pullrequests`,
        query: { state: 'OPEN', ...PULLS_PAGE },
        what: `the open pull requests of ${name}`,
        needs: RIGHTS.pulls,
      };
      const items = await all(question, (body) => listAt(body, 'values'), MOST_PULL_REQUESTS, signal);
      const pulls: PullRequest[] = [];
      for (const item of items) {
        // One whose head is lost has nothing to plan, and must not hide the others.
        if (textOrNothing(item, 'source.commit.hash') === undefined) continue;
        const pull = await readPull(item, signal);
        if (pull !== undefined) pulls.push(pull);
      }
      return pulls;
    },
    async pullRequest(number, signal) {
      const what = `pull request ${number} of ${name}`;
      const where = `${repo}/pullrequests/${number}`;
      const answer = await orNone(ask, { method: 'GET', path: where, what, needs: RIGHTS.pulls }, repository, signal);
      if (answer === undefined) return undefined;
      const pull = await readPull(answer.body, signal);
      if (pull === undefined) throw otherShape('source.commit.hash', 'the newest commit of its pull request');
      return pull;
    },
    openPullRequest(proposal, signal) {
      const words = bitbucketCloudProposal(repo, name, PULLS_PAGE, proposal);
      return propose(ask, { ...words, reads: RIGHTS.pulls, writes: RIGHTS.writePulls }, proposal, name, signal);
    },
    async comments(number, signal) {
      const listed = await listComments(number, signal);
      // As long as it is not known who we are, whatever looks like ours is left out.
      const known = (await account(signal)) !== undefined;
      return fromOthers(listed).filter(({ body }) => known || !isMarked(body));
    },
    upsertComment(number, comment, signal) {
      const comments = `${repo}/pullrequests/${number}/comments`;
      const write = { what: `the comment on pull request ${number} of ${name}`, needs: RIGHTS.comments, paced: true };
      const content = (raw: string): object => ({ content: { raw } });
      const one = (id: string): string => `${comments}/${encodeURIComponent(id)}`;
      const store = {
        list: () => listComments(number, signal),
        create: async (body: string) => {
          const known = await account(signal);
          const written = (await ask({ method: 'POST', path: comments, body: content(body), ...write }, signal)).body;
          const id = idAt(written, 'id');
          if (known !== undefined) return id;
          // Now that it is known who writes, an earlier comment may turn out to be ours. Then this one was one too many.
          learned = textAt(written, 'user.uuid');
          const earlier = (await store.list()).find(
            (stored) => stored.ours && stored.id !== id && bears(stored.body, comment.marker),
          );
          if (earlier === undefined) return id;
          await store.update(earlier.id, body);
          await ask({ method: 'DELETE', path: one(id), ...write }, signal);
          return earlier.id;
        },
        update: async (id: string, body: string) => {
          await ask({ method: 'PUT', path: one(id), body: content(body), ...write }, signal);
        },
      };
      return upsertOwn(store, comment, BITBUCKET_LIMITS.comment);
    },
    async mayWrite(user, signal) {
      // Nicknames are anybody's to choose, so they prove nothing.
      const uuid = /\{[0-9a-f-]{36}\}$/i.exec(user)?.[0];
      if (uuid === undefined) return false;
      const question: Question = {
        method: 'GET',
        path: `/workspaces/${workspace}/permissions/repositories/${slug}`,
        query: { q: `user.uuid="${uuid}"` },
        what: `the rights of ${user} in ${name}`,
        needs: RIGHTS.permission,
      };
      const found = await all(question, (body) => listAt(body, 'values'), MOST_COMMENTS, signal);
      return found.some(
        (entry) => at(entry, 'user.uuid') === uuid && ['write', 'admin'].includes(textAt(entry, 'permission')),
      );
    },
    async ensureWebhook({ url, secret }, signal) {
      const hooks = `${repo}/hooks`;
      const common = { what: `the webhooks of ${name}`, needs: RIGHTS.hooks, secrets: [secret] };
      const list: Question = { method: 'GET', path: hooks, ...common };
      const present = await all(list, (body) => listAt(body, 'values'), MOST_HOOKS, signal);
      const same = present.find((hook) => at(hook, 'url') === url);
      const body = {
        description: 'Espalier',
        url,
        secret,
        active: true,
        events: EVENTS,
        skip_cert_verification: false,
      };
      const id = same === undefined ? undefined : textAt(same, 'uuid');
      return await putHook(ask, { hooks, id, body, ...common }, signal);
    },
  };
}

function readStatus(item: unknown): CommitStatus {
  const url = textOrNothing(item, 'url');
  return {
    context: textOrNothing(item, 'name') ?? textAt(item, 'key'),
    state: stateOf(textAt(item, 'state')),
    description: textOrNothing(item, 'description') ?? '',
    ...(url === undefined ? {} : { url }),
  };
}

function pullOf(item: unknown, commit: string): PullRequest {
  const number = numberAt(item, 'id');
  const state = textAt(item, 'state');
  const source = textOrNothing(item, 'source.repository.full_name');
  const fromFork = source === undefined || source !== textAt(item, 'destination.repository.full_name');
  return {
    number,
    title: textOrNothing(item, 'title') ?? '',
    author: personOf(item, 'author'),
    url: textAt(item, 'links.html.href'),
    state: state === 'OPEN' ? 'open' : state === 'MERGED' ? 'merged' : 'closed',
    head: {
      commit,
      // Cloud serves no ref for a pull request. For a fork this names none, rather than a branch of ours of the same name.
      ref: fromFork ? `refs/pull-requests/${number}/from` : `refs/heads/${textAt(item, 'source.branch.name')}`,
    },
    base: textAt(item, 'destination.branch.name'),
    fromFork,
  };
}

/** A name that people know, with the id that is theirs alone. */
function personOf(item: unknown, path: string): string {
  const shown = textOrNothing(item, `${path}.nickname`) ?? textOrNothing(item, `${path}.display_name`) ?? 'ghost';
  const uuid = textOrNothing(item, `${path}.uuid`);
  return uuid === undefined ? shown : `${shown} ${uuid}`;
}

function readComment(item: unknown, account: string | undefined): Comment & StoredComment {
  const writtenAt = timeAt(item, 'created_on');
  const body = textOrNothing(item, 'content.raw') ?? '';
  const changedAt = textOrNothing(item, 'updated_on') === undefined ? writtenAt : timeAt(item, 'updated_on');
  return {
    id: idAt(item, 'id'),
    author: personOf(item, 'user'),
    body,
    writtenAt,
    edited: changedAt - writtenAt > SAME_MOMENT_MS,
    ours: account !== undefined && at(item, 'user.uuid') === account,
  };
}
