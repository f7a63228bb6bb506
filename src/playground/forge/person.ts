import { randomBytes } from 'node:crypto';
import { type GiteaApi, giteaApi } from './api.ts';
import { type HostedRepository, hostedRepository } from './repository.ts';

/** Somebody with an account on Gitea: a person, or a program that acts in its own name. */
export interface Person {
  name: string;
  /** For the page. */
  password: string;
  /** For programs: what an agent has for the API, and as a password for Git. */
  token: string;
  api: GiteaApi;
  /** A new repository of their own, empty and private. */
  createRepository(name: string): Promise<HostedRepository>;
  /** One that is there, as they see it: what they have no right to is refused to them. */
  repository(name: string): HostedRepository;
  /** Another token of theirs: what `revokeToken` takes away. */
  createToken(name: string, scopes?: string[]): Promise<string>;
  revokeToken(name: string): Promise<void>;
}

export interface Account {
  url: string;
  /** Folder of the forge, in which copies of repositories are kept for pushing. */
  root: string;
  name: string;
  password: string;
  token: string;
}

export function personOf(account: Account): Person {
  const { url, root, name, password, token } = account;
  // As people do. Gitea 1.26 hashes a token for 4 ms at each request; passwords are hashed a tenth of that here (settings.ts).
  const api = giteaApi(url, { user: name, password });
  const repository = (full: string): HostedRepository =>
    hostedRepository({ url, root, name: full, user: name, password });
  return {
    name,
    password,
    token,
    api,
    repository,
    async createRepository(short) {
      await api.call('POST', '/user/repos', { name: short, private: true, default_branch: 'main' });
      return repository(`${name}/${short}`);
    },
    async createToken(tokenName, scopes = ['all']) {
      const made = await api.call('POST', `/users/${name}/tokens`, { name: tokenName, scopes });
      return made.text('sha1');
    },
    async revokeToken(tokenName) {
      await api.call('DELETE', `/users/${name}/tokens/${encodeURIComponent(tokenName)}`);
    },
  };
}

/** A new account, made by an administrator. */
export async function createPerson(
  { url, root }: { url: string; root: string },
  admin: Pick<Person, 'api'>,
  name: string,
): Promise<Person> {
  const password = randomBytes(9).toString('base64url');
  const account = { username: name, email: `${name}@example.com`, password, must_change_password: false };
  await admin.api.call('POST', '/admin/users', account);
  const made = await giteaApi(url, { user: name, password }).call('POST', `/users/${name}/tokens`, {
    name: 'playground',
    scopes: ['all'],
  });
  return personOf({ url, root, name, password, token: made.text('sha1') });
}
