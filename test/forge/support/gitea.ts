import { CANARY, type FakeForge, LOCAL } from './fake-forge.ts';
import { githubStyleRoutes } from './github-style.ts';
import { startFake } from './server.ts';
import { newState } from './state.ts';

const NOT_FOUND = { status: 404, body: { message: "The target couldn't be found.", errors: [], url: '/api/swagger' } };
const BAD = { status: 401, body: { message: 'user does not exist [uid: 0, name: ]', url: '/api/swagger' } };

/** Gitea or Forgejo as their API is described; the stories on a real Gitea are elsewhere. */
export async function startGitea(kind: 'gitea' | 'forgejo'): Promise<FakeForge> {
  const state = newState();
  const words = {
    root: '/api/v1',
    pageSize: 'limit',
    stateField: 'status',
    notFound: NOT_FOUND,
    hookSecretsChange: false,
    listsByBranch: false,
    alreadyOpen: (head: string) => ({
      status: 409,
      body: { message: `pull request already exists for these targets [head: ${head}]` },
    }),
  };
  const server = await startFake({
    notFound: NOT_FOUND,
    refuse: ({ headers }) => (headers.authorization === `Bearer ${CANARY}` ? undefined : BAD),
    routes: githubStyleRoutes(state, words),
  });
  return {
    name: kind === 'gitea' ? 'Gitea' : 'Forgejo',
    server,
    state,
    canary: CANARY,
    options: { kind, repositoryUrl: `${server.url}/acme/platform.git`, secret: { token: CANARY }, policy: LOCAL },
    person: (name) => name,
    close: () => server.close(),
  };
}
