import { shorten } from '../api/one-line.ts';
import type { Ask, Question } from './ask.ts';
import { CONTEXT_LENGTH, MOST_COMMENTS, MOST_PULL_REQUESTS, MOST_STATUSES } from './bounds.ts';
import type { Comment, CommitStatus, Forge, ForgeLimits, PullRequest, StatusState } from './forge.ts';
import { orNone } from './or-none.ts';
import { fromOthers, type StoredComment, upsertOwn } from './own-comment.ts';
import { byLink, readPages } from './pages.ts';
import { githubStyleProposal } from './proposal-words.ts';
import { propose } from './propose.ts';
import { at, commitAt, idAt, listAt, numberAt, textAt, textOrNothing, timeAt } from './shape.ts';
import { shortName, webLink } from './wording.ts';

/** In what GitHub and the forges that took over its API differ. */
export interface Dialect {
  limits: ForgeLimits;
  /** The query that asks for pages of a size. */
  pageSize: Readonly<Record<string, number>>;
  /** Where a status says its state when it is read. */
  stateField: string;
  /** The account that comments are written by. */
  account(signal: AbortSignal): Promise<string>;
  /** The rights that calls take, in the forge's words. */
  rights: Readonly<
    Record<'readRepository' | 'statuses' | 'readPulls' | 'writePulls' | 'comments' | 'permission' | 'hooks', string>
  >;
  ensureWebhook: Forge['ensureWebhook'];
}

const STATES: readonly StatusState[] = ['pending', 'success', 'failure', 'error'];
const WRITERS = ['write', 'maintain', 'admin', 'owner'];

/** A forge that speaks GitHub's API: GitHub itself, Gitea, Forgejo. */
export function githubStyle(ask: Ask, path: readonly string[], dialect: Dialect): Omit<Forge, 'close'> {
  const { rights, pageSize } = dialect;
  const repo = `/repos/${path.map(encodeURIComponent).join('/')}`;
  const name = path.join('/');

  function all<T>(question: Question, items: (body: unknown) => T[], most: number, signal: AbortSignal): Promise<T[]> {
    return readPages(ask, { ...question, query: { ...question.query, ...pageSize } }, byLink, items, most, signal);
  }

  const repository: Question = {
    method: 'GET',
    path: repo,
    what: `the repository ${name}`,
    needs: rights.readRepository,
  };

  function listComments(number: number, signal: AbortSignal): Promise<(Comment & StoredComment)[]> {
    return dialect.account(signal).then((account) =>
      all(
        {
          method: 'GET',
          path: `${repo}/issues/${number}/comments`,
          what: `the comments on pull request ${number} of ${name}`,
          needs: rights.comments,
        },
        (body) => listAt(body).map((item) => readComment(item, account)),
        MOST_COMMENTS,
        signal,
      ),
    );
  }

  return {
    limits: dialect.limits,
    async setStatus(commit, status, signal) {
      const url = webLink(status.url);
      await ask(
        {
          method: 'POST',
          path: `${repo}/statuses/${encodeURIComponent(commit)}`,
          body: {
            state: status.state,
            context: shortName(status.context, CONTEXT_LENGTH),
            description: shorten(status.description),
            ...(url === undefined ? {} : { target_url: url }),
          },
          what: `the status ${status.context} of commit ${commit.slice(0, 12)} in ${name}`,
          needs: rights.statuses,
          paced: true,
        },
        signal,
      );
    },
    statuses: (commit, signal) =>
      all(
        {
          method: 'GET',
          path: `${repo}/commits/${encodeURIComponent(commit)}/status`,
          what: `the statuses of commit ${commit.slice(0, 12)} in ${name}`,
          needs: rights.statuses,
        },
        (body) => listAt(body, 'statuses').map((item) => readStatus(item, dialect.stateField)),
        MOST_STATUSES,
        signal,
      ),
    openPullRequests: (signal) =>
      all(
        {
          method: 'GET',
          path: `${repo}/pulls`,
          query: { state: 'open' },
          what: `the open pull requests of ${name}`,
          needs: rights.readPulls,
        },
        // One whose head is lost has nothing to plan, and must not hide the others.
        (body) =>
          listAt(body)
            .filter((item) => textOrNothing(item, 'head.sha') !== undefined)
            .map(readPull),
        MOST_PULL_REQUESTS,
        signal,
      ),
    async pullRequest(number, signal) {
      const what = `pull request ${number} of ${name}`;
      const answer = await orNone(
        ask,
        { method: 'GET', path: `${repo}/pulls/${number}`, what, needs: rights.readPulls },
        repository,
        signal,
      );
      return answer && readPull(answer.body);
    },
    openPullRequest(proposal, signal) {
      const words = githubStyleProposal(repo, path[0] ?? '', pageSize, proposal);
      return propose(ask, { ...words, reads: rights.readPulls, writes: rights.writePulls }, proposal, name, signal);
    },
    async comments(number, signal) {
      return fromOthers(await listComments(number, signal));
    },
    upsertComment(number, comment, signal) {
      const write = { what: `the comment on pull request ${number} of ${name}`, needs: rights.comments, paced: true };
      const store = {
        list: () => listComments(number, signal),
        create: async (body: string) =>
          idAt(
            (await ask({ method: 'POST', path: `${repo}/issues/${number}/comments`, body: { body }, ...write }, signal))
              .body,
            'id',
          ),
        update: async (id: string, body: string) => {
          const where = `${repo}/issues/comments/${encodeURIComponent(id)}`;
          await ask({ method: 'PATCH', path: where, body: { body }, ...write }, signal);
        },
      };
      return upsertOwn(store, comment, dialect.limits.comment);
    },
    async mayWrite(user, signal) {
      const answer = await orNone(
        ask,
        {
          method: 'GET',
          path: `${repo}/collaborators/${encodeURIComponent(user)}/permission`,
          what: `the rights of ${user} in ${name}`,
          needs: rights.permission,
        },
        repository,
        signal,
      );
      return answer !== undefined && WRITERS.includes(textAt(answer.body, 'permission'));
    },
    ensureWebhook: dialect.ensureWebhook,
  };
}

function readStatus(item: unknown, stateField: string): CommitStatus {
  const url = textOrNothing(item, 'target_url');
  const state = textAt(item, stateField);
  return {
    context: textAt(item, 'context'),
    // Gitea also knows `warning`, which nobody but a person reads as good.
    state: STATES.find((known) => known === state) ?? 'failure',
    description: textOrNothing(item, 'description') ?? '',
    ...(url === undefined ? {} : { url }),
  };
}

function readPull(item: unknown): PullRequest {
  const number = numberAt(item, 'number');
  const headRepository = at(item, 'head.repo.id');
  const merged = at(item, 'merged') === true || typeof at(item, 'merged_at') === 'string';
  return {
    number,
    title: textOrNothing(item, 'title') ?? '',
    author: textOrNothing(item, 'user.login') ?? 'ghost',
    url: textAt(item, 'html_url'),
    state: merged ? 'merged' : textAt(item, 'state') === 'open' ? 'open' : 'closed',
    head: { commit: commitAt(item, 'head.sha'), ref: `refs/pull/${number}/head` },
    base: textAt(item, 'base.ref'),
    // The repository of a fork that was deleted is null.
    fromFork: headRepository === undefined || headRepository !== at(item, 'base.repo.id'),
  };
}

function readComment(item: unknown, account: string): Comment & StoredComment {
  const author = textOrNothing(item, 'user.login') ?? 'ghost';
  return {
    id: idAt(item, 'id'),
    author,
    body: textOrNothing(item, 'body') ?? '',
    writtenAt: timeAt(item, 'created_at'),
    edited: timeAt(item, 'updated_at') !== timeAt(item, 'created_at'),
    ours: author.toLowerCase() === account.toLowerCase(),
  };
}
