import { CANARY, type FakeForge, LOCAL } from './fake-forge.ts';
import { linked, type Reply, type Route, startFake } from './server.ts';
import { addNote, changeNote, changePull, type Note, newState, type Pull, proposePull } from './state.ts';

const PROJECT = '/api/v4/projects/acme%2Fteam%2Fplatform';
const NOT_FOUND = { status: 404, body: { message: '404 Not Found' } };
const LEVELS = { read: 20, write: 30, admin: 40 };
const EVENTS: Record<string, string> = { pending: 'enqueue', running: 'run', success: 'success', failed: 'drop' };

/** GitLab as its REST documentation describes it, with a project below a subgroup. */
export async function startGitlab(): Promise<FakeForge> {
  const state = newState();
  const ids = [...state.people.keys()];
  const on = (rest: string): RegExp => new RegExp(`^${PROJECT}${rest}$`);
  const merge = '/merge_requests/(\\d+)';
  const routes: Route[] = [
    ['GET', /^\/api\/v4\/user$/, () => ({ status: 200, body: { id: 1, username: state.self } })],
    [
      'GET',
      /^\/api\/v4\/users$/,
      ({ query }) => {
        const name = query.get('username') ?? '';
        const found = ids.includes(name) ? [{ id: ids.indexOf(name) + 1, username: name, state: 'active' }] : [];
        return { status: 200, body: found };
      },
    ],
    ['GET', on(''), () => ({ status: 200, body: { id: 9, path_with_namespace: 'acme/team/platform' } })],
    [
      'POST',
      on('/statuses/([^/]+)'),
      ({ body }, [commit = '']) => {
        const said = state.statuses.get(commit) ?? [];
        const running = said.findLast((one) => one.context === body.name && /^(pending|running)$/.test(one.state));
        const word = String(body.state);
        if (running?.state === word) {
          const event = EVENTS[word];
          return {
            status: 400,
            body: {
              message: `Cannot transition status via :${event} from :${word} (Reason(s): Status cannot transition via "${event}")`,
            },
          };
        }
        const status = {
          context: String(body.name),
          state: word,
          description: String(body.description),
          url: body.target_url as string | undefined,
          sent: body,
        };
        state.statuses.set(commit, [...said.filter((one) => one !== running), status]);
        return { status: 201, body: {} };
      },
    ],
    [
      'GET',
      on('/repository/commits/([^/]+)/statuses'),
      (request, [commit = '']) => {
        const latest = [...new Map((state.statuses.get(commit) ?? []).map((one) => [one.context, one])).values()];
        const shown = latest.map(({ context, state: word, description, url }) => ({
          name: context,
          status: word,
          description,
          target_url: url ?? null,
        }));
        return linked(shown, request, 'per_page');
      },
    ],
    [
      'GET',
      on('/merge_requests'),
      (request) => {
        const branch = request.query.get('source_branch');
        const open = state.pulls.filter(
          (pull) =>
            (request.query.get('state') !== 'opened' || pull.state === 'open') &&
            (branch === null || branch === pull.branch),
        );
        return linked(open.map(mergeJson), request, 'per_page');
      },
    ],
    [
      'POST',
      on('/merge_requests'),
      ({ body }) => {
        if (!state.mayPropose) return { status: 403, body: { message: '403 Forbidden' } };
        const { title, description, source_branch: branch, target_branch: base } = body as Record<string, string>;
        const made = proposePull(state, {
          title: title ?? '',
          body: description ?? '',
          branch: branch ?? '',
          base: base ?? '',
        });
        if (made !== undefined) return { status: 201, body: mergeJson(made) };
        const message = ['Another open merge request already exists for this source branch: !1'];
        return { status: 409, body: { message } };
      },
    ],
    [
      'PUT',
      on(merge),
      ({ body }, [number]) => {
        const pull = state.pulls.find((one) => one.number === Number(number));
        if (pull === undefined) return NOT_FOUND;
        changePull(pull, body.title, body.description);
        return { status: 200, body: mergeJson(pull) };
      },
    ],
    [
      'GET',
      on(merge),
      (_request, [number]) => {
        const pull = state.pulls.find((one) => one.number === Number(number));
        return pull === undefined ? NOT_FOUND : { status: 200, body: mergeJson(pull) };
      },
    ],
    [
      'GET',
      on(`${merge}/notes`),
      (request, [number]) => {
        const notes = state.comments.filter((note) => note.number === Number(number));
        const system = { id: 1, system: true, author: { username: 'wilma' }, body: 'added 1 commit' };
        return linked([system, ...notes.map(noteJson)], request, 'per_page');
      },
    ],
    [
      'POST',
      on(`${merge}/notes`),
      ({ body }, [number]) => ({
        status: 201,
        body: noteJson(addNote(state, { number: Number(number), body: String(body.body) })),
      }),
    ],
    [
      'PUT',
      on(`${merge}/notes/(\\d+)`),
      ({ body }, [, id]) => {
        const note = state.comments.find((one) => one.id === Number(id));
        if (note === undefined) return NOT_FOUND;
        changeNote(note, String(body.body));
        return { status: 200, body: noteJson(note) };
      },
    ],
    [
      'GET',
      on('/members/all/(\\d+)'),
      (_request, [id]) => {
        const name = ids[Number(id) - 1] ?? '';
        const right = state.people.get(name);
        return right === undefined
          ? NOT_FOUND
          : { status: 200, body: { id: Number(id), username: name, state: 'active', access_level: LEVELS[right] } };
      },
    ],
    [
      'GET',
      on('/hooks'),
      (request) =>
        linked(
          state.hooks.map(({ id, url }) => ({ id: Number(id), url })),
          request,
          'per_page',
        ),
    ],
    [
      'POST',
      on('/hooks'),
      ({ body }) => {
        state.nextId += 1;
        state.hooks.push({ id: String(state.nextId), url: String(body.url), sent: body });
        return { status: 201, body: { id: state.nextId } };
      },
    ],
    [
      'PUT',
      on('/hooks/(\\d+)'),
      ({ body }, [id]) => {
        const hook = state.hooks.find((one) => one.id === id);
        if (hook === undefined) return NOT_FOUND;
        hook.sent = body;
        return { status: 200, body: { id: Number(id) } };
      },
    ],
  ];
  const hidden: Reply = { status: 404, body: { message: '404 Project Not Found' } };
  const server = await startFake({
    notFound: NOT_FOUND,
    refuse: ({ path, headers }) => {
      if (headers.authorization !== `Bearer ${CANARY}`) return { status: 401, body: { message: '401 Unauthorized' } };
      return !state.visible && path.startsWith(PROJECT) ? hidden : undefined;
    },
    routes,
  });
  return {
    name: 'GitLab',
    server,
    state,
    canary: CANARY,
    options: {
      kind: 'gitlab',
      repositoryUrl: `${server.url}/acme/team/platform.git`,
      secret: { token: CANARY },
      policy: LOCAL,
    },
    person: (name) => name,
    close: () => server.close(),
  };
}

function mergeJson(pull: Pull): object {
  return {
    id: pull.number + 5000,
    iid: pull.number,
    title: pull.title,
    description: pull.body === '' ? null : pull.body,
    author: { username: pull.author },
    web_url: `https://forge.example.com/acme/team/platform/-/merge_requests/${pull.number}`,
    state: pull.state === 'open' ? 'opened' : pull.state,
    sha: pull.commit,
    source_branch: pull.branch,
    target_branch: pull.base,
    source_project_id: pull.fork ? 10 : 9,
    target_project_id: 9,
  };
}

function noteJson(note: Note): object {
  return {
    id: note.id,
    system: false,
    author: { username: note.author },
    body: note.body,
    created_at: new Date(note.createdAt).toISOString(),
    updated_at: new Date(note.updatedAt).toISOString(),
  };
}
