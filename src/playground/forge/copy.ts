import { git } from '../git.ts';
import { type CommitOptions, commitFiles, headOf, type NewFile } from '../gitcommit.ts';
import { initBare } from '../gitrepository.ts';

/** Where a repository is served, and who asks. */
export interface Remote {
  url: string;
  user: string;
  password: string;
}

export interface PushOptions extends CommitOptions {
  /** Rewrites the branch where the new commit does not follow its head. */
  force?: boolean;
}

/** A bare copy of a served repository: what a person has on their machine. */
export interface Copy {
  folder: string;
  /** Takes over every branch as it is served now. */
  fetch(): Promise<void>;
  /** Commits on top of what the branch is now (a new one: on top of `main`) and pushes; answers the commit. */
  push(files: Record<string, NewFile>, options?: PushOptions): Promise<string>;
  /** Pushes a commit that the copy has already. */
  pushCommit(commit: string, branch: string): Promise<void>;
  /** Text of a file on a branch as it was fetched last; undefined where there is none. */
  read(branch: string, path: string): Promise<string | undefined>;
}

/** One at a time in each folder: several people push to one repository from the same copy. */
const lines = new Map<string, Promise<unknown>>();

export function copyOf(folder: string, remote: Remote): Copy {
  const env = withPassword(remote);
  const fetch = async (): Promise<void> => {
    await initBare(folder);
    const { url } = remote;
    await git(folder, ['fetch', '--quiet', '--prune', '--force', '--no-tags', url, '+refs/heads/*:refs/heads/*'], {
      env,
    });
  };
  const send = async (commit: string, branch: string, force: boolean): Promise<void> => {
    await git(folder, ['push', '--quiet', remote.url, `${force ? '+' : ''}${commit}:refs/heads/${branch}`], { env });
  };
  /** A new branch begins where `main` is. */
  const startOf = async ({ branch = 'main' }: CommitOptions): Promise<CommitOptions> => {
    const [main, own] = await Promise.all(['main', branch].map((name) => headOf(folder, `refs/heads/${name}`)));
    return own === '' && main !== undefined && main !== '' ? { parent: main } : {};
  };
  return {
    folder,
    fetch: () => inLine(folder, fetch),
    push: (files, { force = false, ...options } = {}) =>
      inLine(folder, async () => {
        await fetch();
        const start = { author: identity(remote.user), ...(await startOf(options)) };
        const commit = await commitFiles({ folder }, files, { ...start, ...options });
        await send(commit, options.branch ?? 'main', force);
        return commit;
      }),
    pushCommit: (commit, branch) => inLine(folder, () => send(commit, branch, false)),
    async read(branch, path) {
      const entry = await git(folder, ['ls-tree', '--name-only', `refs/heads/${branch}`, '--', path]);
      return entry === '' ? undefined : `${await git(folder, ['show', `refs/heads/${branch}:${path}`])}\n`;
    },
  };
}

function inLine<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const next = (lines.get(folder) ?? Promise.resolve()).then(work, work);
  lines.set(folder, next);
  return next;
}

function identity(user: string): string {
  return `${user} <${user}@example.com>`;
}

/** In the environment: arguments are for everybody on the machine to read. */
function withPassword({ user, password }: Remote): Record<string, string> {
  const login = Buffer.from(`${user}:${password}`).toString('base64');
  return {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${login}`,
  };
}
