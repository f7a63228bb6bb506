import { EspalierError } from '../api/index.ts';
import type { Ask, Question } from './ask.ts';
import { BITBUCKET_LIMITS, buildOf, stateOf } from './bitbucket.ts';
import { MOST_COMMENTS, MOST_HOOKS, MOST_PULL_REQUESTS, MOST_STATUSES } from './bounds.ts';
import type { Comment, CommitStatus, Forge, PullRequest } from './forge.ts';
import { once } from './once.ts';
import { orNone } from './or-none.ts';
import { fromOthers, type StoredComment, upsertOwn } from './own-comment.ts';
import { byStart, readPages } from './pages.ts';
import { bitbucketServerProposal } from './proposal-words.ts';
import { propose } from './propose.ts';
import { putHook } from './put-hook.ts';
import { at, commitAt, idAt, listAt, numberAt, textAt, textOrNothing } from './shape.ts';

const RIGHTS = {
  read: 'an HTTP access token with repository read',
  statuses: 'an HTTP access token with repository read',
  writePulls: 'an HTTP access token with repository write',
  comments: 'an HTTP access token with repository write',
  permission: 'an HTTP access token with repository admin',
  hooks: 'an HTTP access token with repository admin',
};
const EVENTS = [
  'repo:refs_changed',
  ...['opened', 'from_ref_updated', 'modified', 'merged', 'declined', 'deleted'].map((event) => `pr:${event}`),
  ...['added', 'edited', 'deleted'].map((event) => `pr:comment:${event}`),
];
const PAGE = { limit: 100 };
const MOST_ACTIVITIES = 5000;

export function bitbucketServerForge(ask: Ask, path: readonly string[], web: string): Omit<Forge, 'close'> {
  const name = path.join('/');
  const [project = '', slug = ''] = path.map(encodeURIComponent);
  const repo = `/api/latest/projects/${project}/repos/${slug}`;

  function all<T>(question: Question, items: (body: unknown) => T[], most: number, signal: AbortSignal): Promise<T[]> {
    return readPages(ask, { ...question, query: { ...question.query, ...PAGE } }, byStart, items, most, signal);
  }

  const repository: Question = { method: 'GET', path: repo, what: `the repository ${name}`, needs: RIGHTS.read };

  /** There is no call that tells who one is, but a header of every answer does. */
  const standing = once(async (signal) => {
    const { headers, body } = await ask(repository, signal);
    const account = decodeURIComponent(headers['x-ausername'] ?? '');
    if (account === '') {
      throw new EspalierError(
        'ForgeAuthFailed',
        `Bitbucket answers for ${name} as to anybody, so it did not take the login; check it in the Secret of \`spec.forge\`. It needs ${RIGHTS.read}.`,
      );
    }
    return { account, repositoryId: idAt(body, 'id') };
  });

  async function listComments(number: number, signal: AbortSignal): Promise<(Comment & StoredComment)[]> {
    const { account } = await standing(signal);
    const question: Question = {
      method: 'GET',
      path: `${repo}/pull-requests/${number}/activities`,
      what: `the comments on pull request ${number} of ${name}`,
      needs: RIGHTS.comments,
    };
    const activities = await all(question, (body) => listAt(body, 'values'), MOST_ACTIVITIES, signal);
    const comments = activities
      .filter((item) => at(item, 'action') === 'COMMENTED' && at(item, 'commentAction') === 'ADDED')
      .flatMap((item) => withReplies(at(item, 'comment')))
      .map((item) => readComment(item, account));
    return comments.sort((a, b) => a.writtenAt - b.writtenAt).slice(-MOST_COMMENTS);
  }

  return {
    limits: BITBUCKET_LIMITS,
    async setStatus(commit, status, signal) {
      const sha = encodeURIComponent(commit);
      await ask(
        {
          method: 'POST',
          path: `${repo}/commits/${sha}/builds`,
          body: buildOf(status, `${web}/projects/${project}/repos/${slug}/commits/${sha}`),
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
          path: `/build-status/latest/commits/${encodeURIComponent(commit)}`,
          what: `the statuses of commit ${commit.slice(0, 12)} in ${name}`,
          needs: RIGHTS.read,
        },
        (body) => listAt(body, 'values').map(readStatus),
        MOST_STATUSES,
        signal,
      ),
    openPullRequests: (signal) =>
      all(
        {
          method: 'GET',
          path: `${repo}/pull-requests`,
          query: { state: 'OPEN', order: 'OLDEST' },
          what: `the open pull requests of ${name}`,
          needs: RIGHTS.read,
        },
        (body) => listAt(body, 'values').map(readPull),
        MOST_PULL_REQUESTS,
        signal,
      ),
    async pullRequest(number, signal) {
      const what = `pull request ${number} of ${name}`;
      const where = `${repo}/pull-requests/${number}`;
      const answer = await orNone(ask, { method: 'GET', path: where, what, needs: RIGHTS.read }, repository, signal);
      return answer && readPull(answer.body);
    },
    openPullRequest(proposal, signal) {
      const words = bitbucketServerProposal(repo, [path[0] ?? '', path[1] ?? ''], PAGE, proposal);
      return propose(ask, { ...words, reads: RIGHTS.read, writes: RIGHTS.writePulls }, proposal, name, signal);
    },
    async comments(number, signal) {
      return fromOthers(await listComments(number, signal));
    },
    upsertComment(number, comment, signal) {
      const comments = `${repo}/pull-requests/${number}/comments`;
      const about = { what: `the comment on pull request ${number} of ${name}`, needs: RIGHTS.comments };
      const store = {
        list: () => listComments(number, signal),
        create: async (text: string) =>
          idAt(
            (await ask({ method: 'POST', path: comments, body: { text }, ...about, paced: true }, signal)).body,
            'id',
          ),
        update: async (id: string, text: string) => {
          const where = `${comments}/${encodeURIComponent(id)}`;
          // A change names the version that it changes.
          const current = (await ask({ method: 'GET', path: where, ...about }, signal)).body;
          const body = { text, version: numberAt(current, 'version') };
          await ask({ method: 'PUT', path: where, body, ...about, paced: true }, signal);
        },
      };
      return upsertOwn(store, comment, BITBUCKET_LIMITS.comment);
    },
    async mayWrite(user, signal) {
      const { repositoryId } = await standing(signal);
      const question: Question = {
        method: 'GET',
        path: '/api/latest/users',
        query: { filter: user, 'permission.1': 'REPO_WRITE', 'permission.1.repositoryId': repositoryId },
        what: `the rights of ${user} in ${name}`,
        needs: RIGHTS.permission,
      };
      const found = await all(question, (body) => listAt(body, 'values'), MOST_COMMENTS, signal);
      return found.some(
        (person) => textAt(person, 'name').toLowerCase() === user.toLowerCase() && at(person, 'active') !== false,
      );
    },
    async ensureWebhook({ url, secret }, signal) {
      const hooks = `${repo}/webhooks`;
      const common = { what: `the webhooks of ${name}`, needs: RIGHTS.hooks, secrets: [secret] };
      const list: Question = { method: 'GET', path: hooks, ...common };
      const present = await all(list, (body) => listAt(body, 'values'), MOST_HOOKS, signal);
      const same = present.find((hook) => at(hook, 'url') === url);
      const body = {
        name: 'Espalier',
        url,
        active: true,
        events: EVENTS,
        configuration: { secret },
        sslVerificationRequired: true,
      };
      const id = same === undefined ? undefined : idAt(same, 'id');
      return await putHook(ask, { hooks, id, body, ...common }, signal);
    },
  };
}

/** Answers to a comment hang below it, and count as much. */
function withReplies(comment: unknown, depth = 0): unknown[] {
  const replies = at(comment, 'comments');
  return depth > 20 || !Array.isArray(replies)
    ? [comment]
    : [comment, ...replies.flatMap((reply) => withReplies(reply, depth + 1))];
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

function readPull(item: unknown): PullRequest {
  const number = numberAt(item, 'id');
  const state = textAt(item, 'state');
  return {
    number,
    title: textOrNothing(item, 'title') ?? '',
    author: textOrNothing(item, 'author.user.name') ?? 'ghost',
    url: textAt(item, 'links.self.0.href'),
    state: state === 'OPEN' ? 'open' : state === 'MERGED' ? 'merged' : 'closed',
    head: { commit: commitAt(item, 'fromRef.latestCommit'), ref: `refs/pull-requests/${number}/from` },
    base: textAt(item, 'toRef.id').replace(/^refs\/heads\//, ''),
    fromFork: at(item, 'fromRef.repository.id') !== numberAt(item, 'toRef.repository.id'),
  };
}

function readComment(item: unknown, account: string): Comment & StoredComment {
  const author = textOrNothing(item, 'author.name') ?? 'ghost';
  return {
    id: idAt(item, 'id'),
    author,
    body: textOrNothing(item, 'text') ?? '',
    writtenAt: numberAt(item, 'createdDate'),
    edited: numberAt(item, 'version') > 0 && numberAt(item, 'updatedDate') !== numberAt(item, 'createdDate'),
    ours: author.toLowerCase() === account.toLowerCase(),
  };
}
