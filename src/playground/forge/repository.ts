import { join } from 'node:path';
import type { NewFile } from '../gitcommit.ts';
import { waitFor } from '../wait.ts';
import { giteaApi } from './api.ts';
import { type Copy, copyOf, type PushOptions } from './copy.ts';
import type { Fields } from './fields.ts';
import { type PullRequests, pullRequestsOf } from './pulls.ts';

export interface ShownStatus {
  context: string;
  state: string;
  description: string;
  url: string;
  author: string;
}

export interface Hook {
  id: number;
  url: string;
  events: string[];
  active: boolean;
}

/** A repository on Gitea, as one person sees and changes it. */
export interface HostedRepository extends PullRequests {
  /** `ada/platform` */
  name: string;
  /** What Git clones: `http://127.0.0.1:20123/ada/platform.git`. */
  url: string;
  /** For a browser. */
  page: string;
  copy: Copy;
  /** Commits on top of what the branch (`main`) is now, a new one on top of `main`, and pushes over HTTP; answers the commit. */
  push(files: Record<string, NewFile>, options?: PushOptions): Promise<string>;
  /** Pushes a commit that the copy has already. */
  pushCommit(commit: string, branch?: string): Promise<void>;
  deleteBranch(branch: string): Promise<void>;
  /** Commit of a branch; undefined where there is no such branch. */
  head(branch?: string): Promise<string | undefined>;
  /** The latest in each context. */
  statuses(commit: string): Promise<ShownStatus[]>;
  /** All that were ever sent for a commit, oldest first. */
  statusHistory(commit: string): Promise<ShownStatus[]>;
  addCollaborator(user: string, right: 'read' | 'write' | 'admin'): Promise<void>;
  removeCollaborator(user: string): Promise<void>;
  makePublic(): Promise<void>;
  /** A fork of the person's own. */
  fork(): Promise<HostedRepository>;
  hooks(): Promise<Hook[]>;
  createHook(hook: { url: string; secret: string; events: string[] }): Promise<void>;
  deleteHook(id: number): Promise<void>;
}

export interface HostedPlace {
  url: string;
  root: string;
  name: string;
  user: string;
  password: string;
}

export function hostedRepository(place: HostedPlace): HostedRepository {
  const { url, root, name, user, password } = place;
  const api = giteaApi(url, { user, password });
  const at = `/repos/${name}`;
  const clone = `${url}/${name}.git`;
  const copy = copyOf(join(root, 'copies', `${name}.git`), { url: clone, user, password });
  const head = async (branch = 'main'): Promise<string | undefined> => {
    const { status, fields } = await api.ask('GET', `${at}/branches/${encodeURIComponent(branch)}`);
    return status === 200 ? fields.at('commit').text('id') : undefined;
  };
  // For a moment after its first push Gitea still takes a repository for an empty one.
  const served = async (branch = 'main'): Promise<void> => {
    const isServed = async (): Promise<boolean> =>
      !(await api.call('GET', at)).flag('empty') && (await head(branch)) !== undefined;
    await waitFor(`serving the branch ${branch} of ${name}`, isServed, { timeoutMs: 30_000 });
  };
  return {
    ...pullRequestsOf(api, name),
    name,
    url: clone,
    page: `${url}/${name}`,
    copy,
    async push(files, options) {
      const commit = await copy.push(files, options);
      await served(options?.branch);
      return commit;
    },
    async pushCommit(commit, branch = 'main') {
      await copy.pushCommit(commit, branch);
      await served(branch);
    },
    async deleteBranch(branch) {
      await api.call('DELETE', `${at}/branches/${encodeURIComponent(branch)}`);
    },
    head,
    async statuses(commit) {
      const combined = await api.call('GET', `${at}/commits/${commit}/status?limit=50`);
      return combined.at('statuses').list().map(shownStatus);
    },
    async statusHistory(commit) {
      return (await api.all(`${at}/commits/${commit}/statuses?sort=oldest`)).map(shownStatus);
    },
    async addCollaborator(other, permission) {
      await api.call('PUT', `${at}/collaborators/${other}`, { permission });
    },
    async removeCollaborator(other) {
      await api.call('DELETE', `${at}/collaborators/${other}`);
    },
    async makePublic() {
      await api.call('PATCH', at, { private: false });
    },
    async fork() {
      const fork = await api.call('POST', `${at}/forks`, {});
      return hostedRepository({ ...place, name: fork.text('full_name') });
    },
    async hooks() {
      return (await api.all(`${at}/hooks`)).map((hook) => ({
        id: hook.number('id'),
        url: hook.at('config').text('url'),
        events: hook.at('events').texts(),
        active: hook.flag('active'),
      }));
    },
    async createHook({ url: target, secret, events }) {
      const config = { url: target, secret, content_type: 'json' };
      await api.call('POST', `${at}/hooks`, { type: 'gitea', active: true, events, config });
    },
    async deleteHook(id) {
      await api.call('DELETE', `${at}/hooks/${id}`);
    },
  };
}

function shownStatus(status: Fields): ShownStatus {
  return {
    context: status.text('context'),
    state: status.text('status'),
    description: status.text('description'),
    url: status.text('target_url'),
    author: status.at('creator').text('login'),
  };
}
