import { linked, type Reply, type Route } from './server.ts';
import { addNote, changeNote, changePull, type ForgeState, type Note, type Pull, proposePull } from './state.ts';

/** In what the forges with GitHub's API differ as servers. */
export interface Words {
  root: string;
  pageSize: string;
  stateField: string;
  notFound: Reply;
  /** Whether a webhook's secret can be changed after it was made. */
  hookSecretsChange: boolean;
  /** Whether pull requests can be listed by their branch. */
  listsByBranch: boolean;
  /** What is said where a pull request of these branches is open. */
  alreadyOpen(head: string): Reply;
}

export function githubStyleRoutes(state: ForgeState, words: Words): Route[] {
  const repo = `${words.root}/repos/acme/platform`;
  const on = (rest: string): RegExp => new RegExp(`^${repo}${rest}$`);
  const seen =
    (answer: Route[2]): Route[2] =>
    (request, parts) =>
      state.visible ? answer(request, parts) : words.notFound;
  const routes: Route[] = [
    ['GET', new RegExp(`^${words.root}/user$`), () => ({ status: 200, body: { id: 7, login: state.self } })],
    ['GET', on(''), () => ({ status: 200, body: { id: 1, full_name: 'acme/platform' } })],
    [
      'POST',
      on('/statuses/([^/]+)'),
      ({ body }, [commit = '']) => {
        const said = state.statuses.get(commit) ?? [];
        if (said.filter(({ context }) => context === body.context).length >= 1000) {
          return refused('This SHA and context has reached the maximum number of statuses.');
        }
        if (String(body.description).length > 140)
          return refused('description is too long (maximum is 140 characters)');
        const status = {
          context: String(body.context),
          state: String(body.state),
          description: String(body.description),
          url: body.target_url as string | undefined,
          sent: body,
        };
        state.statuses.set(commit, [...said, status]);
        return { status: 201, body: {} };
      },
    ],
    [
      'GET',
      on('/commits/([^/]+)/status'),
      (request, [commit = '']) => {
        const latest = [...new Map((state.statuses.get(commit) ?? []).map((one) => [one.context, one])).values()];
        const shown = latest.map(({ context, state: word, description, url }) => ({
          context,
          [words.stateField]: word,
          description,
          target_url: url ?? '',
        }));
        return linked(shown, request, words.pageSize, (statuses) => ({
          state: 'pending',
          // Gitea writes Go's empty list.
          statuses: words.stateField === 'status' && statuses.length === 0 ? null : statuses,
        }));
      },
    ],
    [
      'GET',
      on('/pulls'),
      (request) => {
        const wanted = words.listsByBranch ? request.query.get('head') : null;
        const open = state.pulls.filter(
          (pull) =>
            (request.query.get('state') !== 'open' || pull.state === 'open') &&
            (wanted === null || wanted === `${pull.fork ? 'eve' : 'acme'}:${pull.branch}`),
        );
        return linked(open.map(pullJson), request, words.pageSize);
      },
    ],
    [
      'POST',
      on('/pulls'),
      ({ body }) => {
        if (!state.mayPropose)
          return { status: 403, body: { message: 'Resource not accessible by personal access token' } };
        const { title, body: text, head: branch, base } = body as Record<string, string>;
        const made = proposePull(state, {
          title: title ?? '',
          body: text ?? '',
          branch: branch ?? '',
          base: base ?? '',
        });
        if (made === undefined) return words.alreadyOpen(`acme:${branch}`);
        return { status: 201, body: pullJson(made) };
      },
    ],
    [
      'PATCH',
      on('/pulls/(\\d+)'),
      ({ body }, [number]) => {
        const pull = state.pulls.find((one) => one.number === Number(number));
        if (pull === undefined) return words.notFound;
        changePull(pull, body.title, body.body);
        return { status: 200, body: pullJson(pull) };
      },
    ],
    [
      'GET',
      on('/pulls/(\\d+)'),
      (_request, [number]) => {
        const pull = state.pulls.find((one) => one.number === Number(number));
        return pull === undefined ? words.notFound : { status: 200, body: pullJson(pull) };
      },
    ],
    [
      'GET',
      on('/issues/(\\d+)/comments'),
      (request, [number]) => {
        const notes = state.comments.filter((note) => note.number === Number(number));
        return linked(notes.map(noteJson), request, words.pageSize);
      },
    ],
    [
      'POST',
      on('/issues/(\\d+)/comments'),
      ({ body }, [number]) => ({
        status: 201,
        body: noteJson(addNote(state, { number: Number(number), body: String(body.body) })),
      }),
    ],
    [
      'PATCH',
      on('/issues/comments/(\\d+)'),
      ({ body }, [id]) => {
        const note = state.comments.find((one) => one.id === Number(id));
        if (note === undefined) return words.notFound;
        changeNote(note, String(body.body));
        return { status: 200, body: noteJson(note) };
      },
    ],
    [
      'GET',
      on('/collaborators/([^/]+)/permission'),
      (_request, [user = '']) => {
        const permission = state.people.get(user);
        return permission === undefined ? words.notFound : { status: 200, body: { permission, user: { login: user } } };
      },
    ],
    ['GET', on('/hooks'), (request) => linked(state.hooks.map(hookJson), request, words.pageSize)],
    [
      'POST',
      on('/hooks'),
      ({ body }) => {
        state.nextId += 1;
        const hook = { id: String(state.nextId), url: configOf(body).url ?? '', sent: body };
        state.hooks.push(hook);
        return { status: 201, body: hookJson(hook) };
      },
    ],
    [
      'PATCH',
      on('/hooks/(\\d+)'),
      ({ body }, [id]) => {
        const hook = state.hooks.find((one) => one.id === id);
        if (hook === undefined) return words.notFound;
        const { secret } = configOf(hook.sent);
        hook.sent = words.hookSecretsChange ? body : { ...body, config: { ...configOf(body), secret } };
        return { status: 200, body: hookJson(hook) };
      },
    ],
    [
      'DELETE',
      on('/hooks/(\\d+)'),
      (_request, [id]) => {
        state.hooks = state.hooks.filter((one) => one.id !== id);
        return { status: 204 };
      },
    ],
  ];
  return routes.map(([method, path, answer]) => [
    method,
    path,
    path.test(`${words.root}/user`) ? answer : seen(answer),
  ]);
}

function refused(message: string): Reply {
  return {
    status: 422,
    body: { message: 'Validation Failed', errors: [{ resource: 'Status', code: 'custom', message }] },
  };
}

function configOf(sent: Record<string, unknown>): Record<string, string> {
  return (sent.config ?? {}) as Record<string, string>;
}

function hookJson(hook: { id: string; url: string; sent: Record<string, unknown> }): object {
  return { id: Number(hook.id), events: hook.sent.events, config: { url: hook.url, content_type: 'json' } };
}

function pullJson(pull: Pull): object {
  const own = { id: 1, full_name: 'acme/platform' };
  return {
    number: pull.number,
    title: pull.title,
    // Gitea and GitHub say null where nothing was written.
    body: pull.body === '' ? null : pull.body,
    user: { login: pull.author },
    html_url: `https://forge.example.com/acme/platform/pulls/${pull.number}`,
    state: pull.state === 'open' ? 'open' : 'closed',
    merged_at: pull.state === 'merged' ? '2026-11-18T09:00:00Z' : null,
    head: { ref: pull.branch, sha: pull.commit, repo: pull.fork ? { id: 2, full_name: 'eve/platform' } : own },
    base: { ref: pull.base, sha: '0'.repeat(40), repo: own },
  };
}

function noteJson(note: Note): object {
  return {
    id: note.id,
    user: { login: note.author },
    body: note.body,
    created_at: new Date(note.createdAt).toISOString(),
    updated_at: new Date(note.updatedAt).toISOString(),
  };
}
