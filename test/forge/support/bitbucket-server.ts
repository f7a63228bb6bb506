import { CANARY, type FakeForge, LOCAL } from './fake-forge.ts';
import { type Reply, type Route, type Seen, startFake } from './server.ts';
import { addNote, changeNote, changePull, type Note, newState, type Pull, proposePull } from './state.ts';

const REPO = '/rest/api/latest/projects/ACME/repos/platform';

/** Bitbucket Data Center as its REST documentation describes it. */
export async function startBitbucketServer(): Promise<FakeForge> {
  const state = newState();
  const on = (rest: string): RegExp => new RegExp(`^${REPO}${rest}$`);
  const notFound = failed(404, 'Repository ACME/platform does not exist.', 'NoSuchRepositoryException');
  const missing = failed(404, 'No such pull request or comment.', 'NoSuchPullRequestException');
  const pulls = '/pull-requests/(\\d+)';
  const noteAt = (id: string | undefined): Note | undefined => state.comments.find((note) => note.id === Number(id));
  const routes: Route[] = [
    ['GET', on(''), () => ({ status: 200, body: { id: 5, slug: 'platform' } })],
    [
      'POST',
      on('/commits/([^/]+)/builds'),
      ({ body }, [commit = '']) => {
        if (!body.url) return failed(400, 'The url is required.', 'ValidationException');
        if (String(body.key).length > 255) return failed(400, 'The key is too long.', 'ValidationException');
        const said = (state.statuses.get(commit) ?? []).filter((one) => one.sent.key !== body.key);
        const { name, state: word, description, url } = body as Record<string, string>;
        said.push({ context: name ?? '', state: word ?? '', description: description ?? '', url, sent: body });
        state.statuses.set(commit, said);
        return { status: 204 };
      },
    ],
    [
      'GET',
      /^\/rest\/build-status\/latest\/commits\/([^/]+)$/,
      (request, [commit = '']) =>
        paged(
          (state.statuses.get(commit) ?? []).map(({ sent }) => sent),
          request,
        ),
    ],
    [
      'GET',
      on('/pull-requests'),
      (request) => {
        const [wanted, at] = [request.query.get('state'), request.query.get('at')];
        const found = state.pulls.filter(
          (pull) => (wanted !== 'OPEN' || pull.state === 'open') && (at === null || at === `refs/heads/${pull.branch}`),
        );
        return paged(found.map(pullJson), request);
      },
    ],
    [
      'POST',
      on('/pull-requests'),
      ({ body }) => {
        if (!state.mayPropose)
          return failed(403, 'You are not permitted to access this resource.', 'AuthorisationException');
        const branchOf = (ref: unknown): string => (ref as { id: string }).id.replace('refs/heads/', '');
        const { title, description, fromRef, toRef } = body;
        const made = proposePull(state, {
          title: String(title),
          body: String(description),
          branch: branchOf(fromRef),
          base: branchOf(toRef),
        });
        if (made !== undefined) return { status: 201, body: pullJson(made) };
        return failed(
          409,
          'Only one pull request may be open for a given source and target branch',
          'DuplicatePullRequestException',
        );
      },
    ],
    [
      'PUT',
      on(pulls),
      ({ body }, [number]) => {
        const pull = state.pulls.find((one) => one.number === Number(number));
        if (pull === undefined) return missing;
        if (body.version !== pull.version)
          return failed(409, 'The pull request was changed meanwhile.', 'PullRequestOutOfDateException');
        if (JSON.stringify(body.reviewers) !== '[{"user":{"name":"ada"}}]')
          return failed(400, 'The reviewers are gone.', 'ValidationException');
        changePull(pull, body.title, body.description);
        return { status: 200, body: pullJson(pull) };
      },
    ],
    [
      'GET',
      on(pulls),
      (_request, [number]) => {
        const pull = state.pulls.find((one) => one.number === Number(number));
        return pull === undefined ? missing : { status: 200, body: pullJson(pull) };
      },
    ],
    [
      'GET',
      on(`${pulls}/activities`),
      (request, [number]) => {
        const notes = state.comments.filter((note) => note.number === Number(number)).reverse();
        const activities = notes.map((note) => ({
          action: 'COMMENTED',
          commentAction: 'ADDED',
          comment: noteJson(note),
        }));
        return paged([{ action: 'OPENED' }, ...activities], request);
      },
    ],
    [
      'POST',
      on(`${pulls}/comments`),
      ({ body }, [number]) => {
        if (String(body.text).length > 32_768)
          return failed(400, 'Please enter a shorter comment.', 'ValidationException');
        return { status: 201, body: noteJson(addNote(state, { number: Number(number), body: String(body.text) })) };
      },
    ],
    [
      'GET',
      on(`${pulls}/comments/(\\d+)`),
      (_request, [, id]) => {
        const note = noteAt(id);
        return note === undefined ? missing : { status: 200, body: noteJson(note) };
      },
    ],
    [
      'PUT',
      on(`${pulls}/comments/(\\d+)`),
      ({ body }, [, id]) => {
        const note = noteAt(id);
        if (note === undefined) return missing;
        if (note.version !== body.version)
          return failed(409, 'The comment was changed meanwhile.', 'CommentOutOfDateException');
        changeNote(note, String(body.text));
        return { status: 200, body: noteJson(note) };
      },
    ],
    [
      'GET',
      /^\/rest\/api\/latest\/users$/,
      (request) => {
        const { query } = request;
        const named = [...state.people].filter(([name]) => name.includes(query.get('filter') ?? ''));
        const asked = query.get('permission.1') === 'REPO_WRITE' && query.get('permission.1.repositoryId') === '5';
        const able = named.filter(([, right]) => !asked || right !== 'read');
        return paged(
          able.map(([name]) => ({ name, active: true })),
          request,
        );
      },
    ],
    [
      'GET',
      on('/webhooks'),
      (request) =>
        paged(
          state.hooks.map(({ id, url }) => ({ id: Number(id), url })),
          request,
        ),
    ],
    [
      'POST',
      on('/webhooks'),
      ({ body }) => {
        state.nextId += 1;
        state.hooks.push({ id: String(state.nextId), url: String(body.url), sent: body });
        return { status: 201, body: { id: state.nextId } };
      },
    ],
    [
      'PUT',
      on('/webhooks/(\\d+)'),
      ({ body }, [id]) => {
        const hook = state.hooks.find((one) => one.id === id);
        if (hook === undefined) return missing;
        hook.sent = body;
        return { status: 200, body: { id: Number(id) } };
      },
    ],
  ];
  const server = await startFake({
    notFound,
    headers: () => ({ 'x-ausername': encodeURIComponent(state.self) }),
    refuse: ({ path, headers }) => {
      if (headers.authorization !== `Bearer ${CANARY}`) {
        return failed(401, 'Authentication failed. Please check your credentials and try again.', 'IncorrectPassword');
      }
      return !state.visible && path.startsWith(REPO) ? notFound : undefined;
    },
    routes,
  });
  return {
    name: 'Bitbucket Data Center',
    server,
    state,
    canary: CANARY,
    options: {
      kind: 'bitbucket',
      repositoryUrl: `${server.url}/scm/ACME/platform.git`,
      secret: { token: CANARY },
      policy: LOCAL,
    },
    person: (name) => name,
    close: () => server.close(),
  };
}

function failed(status: number, message: string, exception: string): Reply {
  return {
    status,
    body: { errors: [{ context: null, message, exceptionName: `com.atlassian.bitbucket.${exception}` }] },
  };
}

function paged<T>(all: readonly T[], { query }: Seen): Reply {
  const start = Number(query.get('start') ?? 0);
  const limit = Math.min(Number(query.get('limit') ?? 25), 100);
  const values = all.slice(start, start + limit);
  const isLastPage = start + limit >= all.length;
  const next = isLastPage ? {} : { nextPageStart: start + limit };
  return { status: 200, body: { size: values.length, limit, start, isLastPage, values, ...next } };
}

function pullJson(pull: Pull): object {
  const own = { id: 5, slug: 'platform', project: { key: 'ACME' } };
  return {
    id: pull.number,
    version: pull.version,
    title: pull.title,
    ...(pull.body === '' ? {} : { description: pull.body }),
    reviewers: [{ user: { name: 'ada', displayName: 'Ada' }, approved: false }],
    state: { open: 'OPEN', merged: 'MERGED', closed: 'DECLINED' }[pull.state],
    author: { user: { name: pull.author, displayName: pull.author } },
    links: { self: [{ href: `https://forge.example.com/projects/ACME/repos/platform/pull-requests/${pull.number}` }] },
    fromRef: {
      id: `refs/heads/${pull.branch}`,
      latestCommit: pull.commit,
      repository: pull.fork ? { id: 6, slug: 'platform', project: { key: '~EVE' } } : own,
    },
    toRef: { id: `refs/heads/${pull.base}`, displayId: pull.base, repository: own },
  };
}

function noteJson(note: Note): object {
  return {
    id: note.id,
    version: note.version,
    text: note.body,
    author: { name: note.author },
    createdDate: note.createdAt,
    updatedDate: note.updatedAt,
    comments: [],
  };
}
