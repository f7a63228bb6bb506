import { waitFor } from '../wait.ts';
import type { GiteaApi } from './api.ts';
import type { Fields } from './fields.ts';

export interface ShownPull {
  number: number;
  title: string;
  state: 'open' | 'closed' | 'merged';
  author: string;
  /** For a browser. */
  page: string;
  head: string;
  base: string;
}

export interface ShownComment {
  id: number;
  author: string;
  body: string;
}

export interface NewPull {
  /** Its head, or `user:branch` for one of a fork. */
  branch: string;
  base?: string;
  title?: string;
  body?: string;
}

/** The pull requests of a repository, and what is written on them, as one person does it. */
export interface PullRequests {
  openPull(pull: NewPull): Promise<ShownPull>;
  pull(number: number): Promise<ShownPull>;
  closePull(number: number): Promise<void>;
  reopenPull(number: number): Promise<void>;
  /** Waits until Gitea has found out whether it may be merged; answers the commit that the base stands at then. */
  mergePull(number: number, style?: 'merge' | 'rebase' | 'squash'): Promise<string>;
  comment(number: number, body: string): Promise<ShownComment>;
  /** Oldest first. */
  comments(number: number): Promise<ShownComment[]>;
  editComment(id: number, body: string): Promise<void>;
  deleteComment(id: number): Promise<void>;
}

const MERGE_TIMEOUT_MS = 60_000;

export function pullRequestsOf(api: GiteaApi, repository: string): PullRequests {
  const at = `/repos/${repository}`;
  const setState = async (number: number, state: 'open' | 'closed'): Promise<void> => {
    await api.call('PATCH', `${at}/pulls/${number}`, { state });
  };
  return {
    async openPull({ branch, base = 'main', title = `Merge ${branch}`, body = '' }) {
      return shownPull(await api.call('POST', `${at}/pulls`, { head: branch, base, title, body }));
    },
    async pull(number) {
      return shownPull(await api.call('GET', `${at}/pulls/${number}`));
    },
    closePull: (number) => setState(number, 'closed'),
    reopenPull: (number) => setState(number, 'open'),
    async mergePull(number, style = 'merge') {
      const merge = { Do: style };
      const isMerged = async (): Promise<boolean> => {
        const { status, message } = await api.ask('POST', `${at}/pulls/${number}/merge`, merge);
        if (status === 405 && message.includes('try again')) {
          // Whether it may be merged Gitea finds out when somebody looks at it.
          await api.ask('GET', `${at}/pulls/${number}`);
          return false;
        }
        // Anything else is final, and the call that fails says why.
        if (status !== 200) await api.call('POST', `${at}/pulls/${number}/merge`, merge);
        return true;
      };
      await waitFor(`merging pull request ${number}`, isMerged, { timeoutMs: MERGE_TIMEOUT_MS });
      return (await api.call('GET', `${at}/pulls/${number}`)).text('merge_commit_sha');
    },
    async comment(number, body) {
      return shownComment(await api.call('POST', `${at}/issues/${number}/comments`, { body }));
    },
    async comments(number) {
      // This list of Gitea's has no pages.
      return (await api.call('GET', `${at}/issues/${number}/comments`)).list().map(shownComment);
    },
    async editComment(id, body) {
      await api.call('PATCH', `${at}/issues/comments/${id}`, { body });
    },
    async deleteComment(id) {
      await api.call('DELETE', `${at}/issues/comments/${id}`);
    },
  };
}

function shownPull(pull: Fields): ShownPull {
  const isOpen = pull.text('state') === 'open';
  return {
    number: pull.number('number'),
    title: pull.text('title'),
    state: isOpen ? 'open' : pull.flag('merged') ? 'merged' : 'closed',
    author: pull.at('user').text('login'),
    page: pull.text('html_url'),
    head: pull.at('head').text('sha'),
    base: pull.at('base').text('ref'),
  };
}

function shownComment(comment: Fields): ShownComment {
  return { id: comment.number('id'), author: comment.at('user').text('login'), body: comment.text('body') };
}
