import { createHash } from 'node:crypto';
import { createAuthority } from '../../../src/playground/authority.ts';
import { CANARY, type FakeForge } from './fake-forge.ts';
import { pageOf, type Reply, type Route, type Seen, startFake } from './server.ts';
import { addNote, changeNote, changePull, type Note, newState, type Pull, proposePull } from './state.ts';
import { startTunnel, type Tunnel } from './tunnel.ts';

const REPO = '/2.0/repositories/acme/platform';

export interface FakeCloud extends FakeForge {
  tunnel: Tunnel;
  /** True where the login may not ask who it is, as a repository access token. */
  nameless: boolean;
}

/** Bitbucket Cloud as its REST documentation describes it, at its own address: behind a proxy, with a certificate of an authority of ours. */
export async function startBitbucketCloud(): Promise<FakeCloud> {
  const state = newState();
  const on = (rest: string): RegExp => new RegExp(`^${REPO}${rest}$`);
  const notFound = failed(404, 'Resource not found');
  const pulls = '/pullrequests/(\\d+)';
  const noteAt = (id: string | undefined): Note | undefined => state.comments.find((note) => note.id === Number(id));
  const routes: Route[] = [
    [
      'GET',
      /^\/2\.0\/user$/,
      () =>
        fake.nameless
          ? failed(403, 'Your credentials lack one or more required privilege scopes.')
          : { status: 200, body: { uuid: uuidOf(state.self), nickname: state.self } },
    ],
    ['GET', on(''), () => ({ status: 200, body: { uuid: uuidOf('platform'), full_name: 'acme/platform' } })],
    [
      'POST',
      on('/commit/([^/]+)/statuses/build'),
      ({ body }, [commit = '']) => {
        if (!body.url) return failed(400, 'url: required key not provided');
        if (String(body.key).length > 40) return failed(400, 'key: Ensure this value has at most 40 characters.');
        const said = (state.statuses.get(commit) ?? []).filter((one) => one.sent.key !== body.key);
        const { name, state: word, description, url } = body as Record<string, string>;
        said.push({ context: name ?? '', state: word ?? '', description: description ?? '', url, sent: body });
        state.statuses.set(commit, said);
        return { status: 201, body: {} };
      },
    ],
    [
      'GET',
      on('/commit/([^/]+)/statuses'),
      (request, [commit = '']) =>
        paged(
          (state.statuses.get(commit) ?? []).map(({ sent }) => sent),
          request,
        ),
    ],
    [
      'GET',
      on('/pullrequests'),
      (request) => {
        const query = request.query.get('q') ?? '';
        const open = request.query.get('state') === 'OPEN' || query.startsWith('state="OPEN" AND ');
        const branch = /source\.branch\.name="([^"]+)"/.exec(query)?.[1];
        const found = state.pulls.filter(
          (pull) => (!open || pull.state === 'open') && (branch === undefined || pull.branch === branch),
        );
        return paged(found.map(pullJson), request);
      },
    ],
    [
      'POST',
      on('/pullrequests'),
      ({ body }) => {
        if (!state.mayPropose) return failed(403, 'Your credentials lack one or more required privilege scopes.');
        const branchOf = (side: unknown): string => (side as { branch: { name: string } }).branch.name;
        const { title, description, source, destination } = body;
        const made = proposePull(state, {
          title: String(title),
          body: String(description),
          branch: branchOf(source),
          base: branchOf(destination),
        });
        if (made === undefined) return failed(400, 'There is already an open pull request of these branches.');
        return { status: 201, body: pullJson(made) };
      },
    ],
    [
      'PUT',
      on(pulls),
      ({ body }, [number]) => {
        const pull = state.pulls.find((one) => one.number === Number(number));
        if (pull === undefined) return notFound;
        changePull(pull, body.title, body.description);
        return { status: 200, body: pullJson(pull) };
      },
    ],
    [
      'GET',
      on(pulls),
      (_request, [number]) => {
        const pull = state.pulls.find((one) => one.number === Number(number));
        return pull === undefined ? notFound : { status: 200, body: pullJson(pull) };
      },
    ],
    [
      'GET',
      on(`${pulls}/commits`),
      (request, [number]) => {
        const pull = state.pulls.find((one) => one.number === Number(number));
        return pull === undefined ? notFound : paged([{ hash: pull.commit }, { hash: '9'.repeat(40) }], request);
      },
    ],
    [
      'GET',
      on(`${pulls}/comments`),
      (request, [number]) => {
        const gone = { id: 1, deleted: true, content: { raw: '' }, user: null };
        const notes = state.comments.filter((note) => note.number === Number(number)).map(noteJson);
        return paged([gone, ...notes], request);
      },
    ],
    [
      'POST',
      on(`${pulls}/comments`),
      ({ body }, [number]) => ({
        status: 201,
        body: noteJson(addNote(state, { number: Number(number), body: rawOf(body) })),
      }),
    ],
    [
      'PUT',
      on(`${pulls}/comments/(\\d+)`),
      ({ body }, [, id]) => {
        const note = noteAt(id);
        if (note === undefined) return notFound;
        changeNote(note, rawOf(body));
        return { status: 200, body: noteJson(note) };
      },
    ],
    [
      'DELETE',
      on(`${pulls}/comments/(\\d+)`),
      (_request, [, id]) => {
        state.comments = state.comments.filter((note) => note.id !== Number(id));
        return { status: 204 };
      },
    ],
    [
      'GET',
      /^\/2\.0\/workspaces\/acme\/permissions\/repositories\/platform$/,
      (request) => {
        const asked = /user\.uuid="([^"]+)"/.exec(request.query.get('q') ?? '')?.[1];
        const found = [...state.people].filter(([name]) => uuidOf(name) === asked);
        return paged(
          found.map(([name, permission]) => ({ permission, user: { uuid: uuidOf(name) } })),
          request,
        );
      },
    ],
    [
      'GET',
      on('/hooks'),
      (request) =>
        paged(
          state.hooks.map(({ id, url }) => ({ uuid: id, url })),
          request,
        ),
    ],
    [
      'POST',
      on('/hooks'),
      ({ body }) => {
        state.hooks.push({ id: uuidOf(String(body.url)), url: String(body.url), sent: body });
        return { status: 201, body: {} };
      },
    ],
    [
      'PUT',
      on('/hooks/([^/]+)'),
      ({ body }, [id]) => {
        const hook = state.hooks.find((one) => one.id === id);
        if (hook === undefined) return notFound;
        hook.sent = body;
        return { status: 200, body: {} };
      },
    ],
  ];
  const authority = createAuthority('forge');
  const server = await startFake({
    notFound,
    refuse: ({ path, headers }) => {
      if (headers.authorization !== `Bearer ${CANARY}`) {
        return failed(401, 'Token is invalid, expired, or not supported for this endpoint.');
      }
      return !state.visible && /\/repositories\//.test(path) ? notFound : undefined;
    },
    routes,
    tls: authority.issue({ commonName: 'forge', hosts: ['api.bitbucket.org'] }),
  });
  const tunnel = await startTunnel(server.port);
  const fake: FakeCloud = {
    name: 'Bitbucket Cloud',
    server,
    state,
    tunnel,
    nameless: false,
    canary: CANARY,
    options: {
      kind: 'bitbucket',
      repositoryUrl: 'git@bitbucket.org:acme/platform.git',
      secret: { bearerToken: CANARY },
      policy: {},
      caBundle: authority.certificate,
      proxy: { url: tunnel.url },
    },
    person: (name) => `${name} ${uuidOf(name)}`,
    close: async () => {
      await tunnel.close();
      await server.close();
    },
  };
  return fake;
}

export function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return `{${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}}`;
}

function failed(status: number, message: string): Reply {
  return { status, body: { type: 'error', error: { message } } };
}

function rawOf(body: Record<string, unknown>): string {
  return String((body.content as { raw?: unknown } | undefined)?.raw);
}

function paged<T>(all: readonly T[], seen: Seen): Reply {
  const { items, next } = pageOf(all, seen, 'pagelen');
  const query = new URLSearchParams(seen.query);
  if (next !== undefined) query.set('page', String(next));
  const link = next === undefined ? {} : { next: `https://api.bitbucket.org${seen.path}?${query}` };
  return { status: 200, body: { pagelen: items.length, values: items, ...link } };
}

function pullJson(pull: Pull): object {
  return {
    id: pull.number,
    title: pull.title,
    description: pull.body,
    state: { open: 'OPEN', merged: 'MERGED', closed: 'DECLINED' }[pull.state],
    author: { nickname: pull.author, uuid: uuidOf(pull.author) },
    links: { html: { href: `https://bitbucket.org/acme/platform/pull-requests/${pull.number}` } },
    source: {
      branch: { name: pull.branch },
      // Twelve characters, as Bitbucket has it.
      commit: { hash: pull.commit.slice(0, 12) },
      repository: { full_name: pull.fork ? 'eve/platform' : 'acme/platform' },
    },
    destination: { branch: { name: pull.base }, repository: { full_name: 'acme/platform' } },
  };
}

function noteJson(note: Note): object {
  return {
    id: note.id,
    user: { nickname: note.author, uuid: uuidOf(note.author) },
    content: { raw: note.body },
    created_on: new Date(note.createdAt).toISOString(),
    updated_on: new Date(note.updatedAt).toISOString(),
  };
}
