import { generateKeyPairSync } from 'node:crypto';
import { CANARY, type FakeForge, LOCAL } from './fake-forge.ts';
import { githubStyleRoutes } from './github-style.ts';
import { type FakeServer, type Seen, startFake } from './server.ts';
import { newState } from './state.ts';

const ROOT = '/api/v3';
const NOT_FOUND = { status: 404, body: { message: 'Not Found', documentation_url: 'https://docs.github.com/rest' } };
const BAD = { status: 401, body: { message: 'Bad credentials', documentation_url: 'https://docs.github.com/rest' } };

/** GitHub Enterprise as its REST documentation describes it; with `app`, for the token of an installation. */
export async function startGithub(options: { app?: boolean } = {}): Promise<FakeForge & { asked: object[] }> {
  const state = newState();
  const asked: object[] = [];
  const installation = 'ghs_installation+canary';
  const key = options.app === true ? generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey : undefined;
  const words = {
    root: ROOT,
    pageSize: 'per_page',
    stateField: 'state',
    notFound: NOT_FOUND,
    hookSecretsChange: true,
    listsByBranch: true,
    alreadyOpen: (head: string) => ({
      status: 422,
      body: { message: 'Validation Failed', errors: [{ message: `A pull request already exists for ${head}.` }] },
    }),
  };
  if (key !== undefined) state.self = 'espalier[bot]';
  const server: FakeServer = await startFake({
    notFound: NOT_FOUND,
    refuse: ({ path, headers }: Seen) => {
      const given = headers.authorization ?? '';
      if (key === undefined) return given === `Bearer ${CANARY}` ? undefined : BAD;
      if (/\/(app|access_tokens)$/.test(path)) return /^Bearer ey[\w-]+\.[\w-]+\.[\w-]+$/.test(given) ? undefined : BAD;
      if (/\/user$/.test(path)) return { status: 403, body: { message: 'Resource not accessible by integration' } };
      return given === `Bearer ${installation}` ? undefined : BAD;
    },
    routes: [
      ['GET', /^\/api\/v3\/app$/, () => ({ status: 200, body: { id: 42, slug: 'espalier' } })],
      [
        'POST',
        /\/app\/installations\/77\/access_tokens$/,
        ({ body }) => {
          asked.push(body.permissions as object);
          return { status: 201, body: { token: installation, expires_at: '2026-11-18T13:00:00Z' } };
        },
      ],
      ...githubStyleRoutes(state, words),
    ],
  });
  const pem = key?.export({ type: 'pkcs8', format: 'pem' }).toString() ?? '';
  return {
    name: key === undefined ? 'GitHub' : 'GitHub App',
    server,
    state,
    asked,
    canary: key === undefined ? CANARY : installation,
    options: {
      kind: 'github',
      repositoryUrl: `${server.url}/acme/platform.git`,
      secret:
        key === undefined
          ? { token: CANARY }
          : { githubAppID: '42', githubAppInstallationID: '77', githubAppPrivateKey: pem },
      policy: LOCAL,
    },
    person: (name) => name,
    close: () => server.close(),
  };
}
