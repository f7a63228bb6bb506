import { setTimeout as pause } from 'node:timers/promises';
import { shorten } from '../api/one-line.ts';
import { type Ask, isRefused, type Question } from './ask.ts';
import { CONTEXT_LENGTH, MOST_COMMENTS, MOST_HOOKS, MOST_PULL_REQUESTS, MOST_STATUSES } from './bounds.ts';
import type { Comment, CommitStatus, Forge, PullRequest, StatusState } from './forge.ts';
import { MARKER_LENGTH } from './marker.ts';
import { once } from './once.ts';
import { orNone } from './or-none.ts';
import { fromOthers, type StoredComment, upsertOwn } from './own-comment.ts';
import { byLink, readPages } from './pages.ts';
import { gitlabProposal } from './proposal-words.ts';
import { propose } from './propose.ts';
import { putHook } from './put-hook.ts';
import { at, commitAt, idAt, listAt, numberAt, textAt, textOrNothing, timeAt } from './shape.ts';
import { shortName, webLink } from './wording.ts';

const PAGE = { per_page: 100 };
const DEVELOPER = 30;
const CONFLICT_PAUSES_MS = [200, 600, 1500];
const RIGHTS = {
  read: 'a token with the scope api, and at least the role Reporter in the project',
  statuses:
    'a token with the scope api, and at least the role Developer in the project (Maintainer where the branch is protected)',
  writePulls: 'a token with the scope api, and at least the role Developer in the project',
  comments: 'a token with the scope api, and at least the role Reporter in the project',
  hooks: 'a token with the scope api, and the role Maintainer in the project',
  account: 'a token with the scope api',
};

/** GitLab has no word for "could not be tried"; for people that is a failure. */
const SAID: Readonly<Record<StatusState, string>> = {
  // Not `pending`, which GitLab leads nowhere but to `running`.
  pending: 'running',
  success: 'success',
  failure: 'failed',
  error: 'failed',
};
const READ: Readonly<Record<string, StatusState>> = {
  ...{ created: 'pending', waiting_for_resource: 'pending', preparing: 'pending', pending: 'pending' },
  ...{ running: 'pending', scheduled: 'pending', manual: 'pending', success: 'success', failed: 'failure' },
  ...{ canceled: 'error', canceling: 'error', skipped: 'error' },
};

export function gitlabForge(ask: Ask, path: readonly string[]): Omit<Forge, 'close'> {
  const name = path.join('/');
  const project = `/projects/${encodeURIComponent(name)}`;
  const limits = { comment: 1_000_000 - MARKER_LENGTH, html: true };

  function all<T>(question: Question, items: (body: unknown) => T[], most: number, signal: AbortSignal): Promise<T[]> {
    return readPages(ask, { ...question, query: { ...question.query, ...PAGE } }, byLink, items, most, signal);
  }

  const repository: Question = { method: 'GET', path: project, what: `the project ${name}`, needs: RIGHTS.read };

  const account = once(async (signal) => {
    const what = 'the account that the agent logs in as';
    return textAt((await ask({ method: 'GET', path: '/user', what, needs: RIGHTS.account }, signal)).body, 'username');
  });

  async function listNotes(number: number, signal: AbortSignal): Promise<(Comment & StoredComment)[]> {
    const own = await account(signal);
    const question: Question = {
      method: 'GET',
      path: `${project}/merge_requests/${number}/notes`,
      query: { sort: 'asc', order_by: 'created_at' },
      what: `the notes on merge request ${number} of ${name}`,
      needs: RIGHTS.comments,
    };
    const written = (body: unknown): unknown[] => listAt(body).filter((note) => at(note, 'system') !== true);
    return all(question, (body) => written(body).map((note) => readNote(note, own)), MOST_COMMENTS, signal);
  }

  return {
    limits,
    async setStatus(commit, status, signal) {
      const url = webLink(status.url);
      const question: Question = {
        method: 'POST',
        path: `${project}/statuses/${encodeURIComponent(commit)}`,
        // Without `ref` and `pipeline_id` GitLab takes the newest pipeline of the commit, as it does for other agents.
        body: {
          state: SAID[status.state],
          name: shortName(status.context, CONTEXT_LENGTH),
          description: shorten(status.description),
          ...(url === undefined ? {} : { target_url: url }),
        },
        what: `the status ${status.context} of commit ${commit.slice(0, 12)} in ${name}`,
        needs: RIGHTS.statuses,
        paced: true,
      };
      await sayStatus(ask, question, status.state, signal);
    },
    statuses: (commit, signal) =>
      all(
        {
          method: 'GET',
          path: `${project}/repository/commits/${encodeURIComponent(commit)}/statuses`,
          what: `the statuses of commit ${commit.slice(0, 12)} in ${name}`,
          needs: RIGHTS.read,
        },
        (body) => listAt(body).map(readStatus),
        MOST_STATUSES,
        signal,
      ),
    openPullRequests: (signal) =>
      all(
        {
          method: 'GET',
          path: `${project}/merge_requests`,
          query: { state: 'opened', order_by: 'created_at', sort: 'asc' },
          what: `the open merge requests of ${name}`,
          needs: RIGHTS.read,
        },
        // One that has no commits yet, or lost them, has nothing to plan.
        (body) =>
          listAt(body)
            .filter((item) => textOrNothing(item, 'sha') !== undefined)
            .map(readMerge),
        MOST_PULL_REQUESTS,
        signal,
      ),
    async pullRequest(number, signal) {
      const what = `merge request ${number} of ${name}`;
      const where = `${project}/merge_requests/${number}`;
      const answer = await orNone(ask, { method: 'GET', path: where, what, needs: RIGHTS.read }, repository, signal);
      return answer && readMerge(answer.body);
    },
    openPullRequest(proposal, signal) {
      const words = gitlabProposal(project, PAGE, proposal);
      return propose(ask, { ...words, reads: RIGHTS.read, writes: RIGHTS.writePulls }, proposal, name, signal);
    },
    async comments(number, signal) {
      return fromOthers(await listNotes(number, signal));
    },
    upsertComment(number, comment, signal) {
      const notes = `${project}/merge_requests/${number}/notes`;
      const write = { what: `the note on merge request ${number} of ${name}`, needs: RIGHTS.comments, paced: true };
      const store = {
        list: () => listNotes(number, signal),
        create: async (body: string) =>
          idAt((await ask({ method: 'POST', path: notes, body: { body }, ...write }, signal)).body, 'id'),
        update: async (id: string, body: string) => {
          await ask({ method: 'PUT', path: `${notes}/${encodeURIComponent(id)}`, body: { body }, ...write }, signal);
        },
      };
      return upsertOwn(store, comment, limits.comment);
    },
    async mayWrite(user, signal) {
      const what = `the role of ${user} in ${name}`;
      const find: Question = { method: 'GET', path: '/users', query: { username: user }, what, needs: RIGHTS.read };
      const same = (item: unknown): boolean => textAt(item, 'username').toLowerCase() === user.toLowerCase();
      const found = listAt((await ask(find, signal)).body).find(same);
      if (found === undefined || at(found, 'state') !== 'active') return false;
      // `all` counts roles that come from groups too.
      const member = `${project}/members/all/${encodeURIComponent(idAt(found, 'id'))}`;
      const answer = await orNone(ask, { method: 'GET', path: member, what, needs: RIGHTS.read }, repository, signal);
      if (answer === undefined || (textOrNothing(answer.body, 'state') ?? 'active') !== 'active') return false;
      return numberAt(answer.body, 'access_level') >= DEVELOPER;
    },
    async ensureWebhook({ url, secret }, signal) {
      const hooks = `${project}/hooks`;
      const common = { what: `the webhooks of ${name}`, needs: RIGHTS.hooks, secrets: [secret] };
      const present = await all({ method: 'GET', path: hooks, ...common }, (body) => listAt(body), MOST_HOOKS, signal);
      const same = present.find((hook) => at(hook, 'url') === url);
      const body = {
        url,
        token: secret,
        // A secret of this form also signs the body, where GitLab can.
        ...(secret.startsWith('whsec_') ? { signing_token: secret } : {}),
        push_events: true,
        merge_requests_events: true,
        note_events: true,
        enable_ssl_verification: true,
      };
      const id = same === undefined ? undefined : idAt(same, 'id');
      return await putHook(ask, { hooks, id, body, ...common }, signal);
    },
  };
}

/** Two statuses at once may both make the pipeline: the later is told of a conflict, and comes through a moment after. */
async function sayStatus(ask: Ask, question: Question, state: StatusState, signal: AbortSignal): Promise<void> {
  for (const ms of [...CONFLICT_PAUSES_MS, undefined]) {
    try {
      await ask(question, signal);
      return;
    } catch (error) {
      if (isRefused(error, 400, 422) && isSaidAlready(String(error.data.said), state)) return;
      if (ms === undefined || !isRefused(error, 409)) throw error;
      await pause(ms, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** GitLab refuses to lead a status from where it is to where it is: `Cannot transition status via :run from :running`. */
export function isSaidAlready(said: string, state: StatusState): boolean {
  const from = /Cannot transition status via :\w+ from :(\w+)/.exec(said)?.[1];
  return from !== undefined && READ[from] !== undefined && SAID[READ[from]] === SAID[state];
}

function readStatus(item: unknown): CommitStatus {
  const url = textOrNothing(item, 'target_url');
  return {
    context: textAt(item, 'name'),
    state: READ[textAt(item, 'status')] ?? 'error',
    description: textOrNothing(item, 'description') ?? '',
    ...(url === undefined ? {} : { url }),
  };
}

function readMerge(item: unknown): PullRequest {
  const number = numberAt(item, 'iid');
  const source = at(item, 'source_project_id');
  const state = textAt(item, 'state');
  return {
    number,
    title: textOrNothing(item, 'title') ?? '',
    author: textOrNothing(item, 'author.username') ?? 'ghost',
    url: textAt(item, 'web_url'),
    // `locked` is a moment while it is being merged.
    state: state === 'merged' ? 'merged' : state === 'closed' ? 'closed' : 'open',
    head: { commit: commitAt(item, 'sha'), ref: `refs/merge-requests/${number}/head` },
    base: textAt(item, 'target_branch'),
    // The project of a fork that was deleted is null.
    fromFork: typeof source !== 'number' || source !== at(item, 'target_project_id'),
  };
}

function readNote(note: unknown, account: string): Comment & StoredComment {
  const author = textOrNothing(note, 'author.username') ?? 'ghost';
  return {
    id: idAt(note, 'id'),
    author,
    body: textOrNothing(note, 'body') ?? '',
    writtenAt: timeAt(note, 'created_at'),
    edited: timeAt(note, 'updated_at') !== timeAt(note, 'created_at'),
    ours: author.toLowerCase() === account.toLowerCase(),
  };
}
