import { startBitbucketCloud } from './bitbucket-cloud.ts';
import { startBitbucketServer } from './bitbucket-server.ts';
import type { FakeForge } from './fake-forge.ts';
import { startGitea } from './gitea.ts';
import { startGithub } from './github.ts';
import { startGitlab } from './gitlab.ts';

/** Every forge that the agent knows, and GitHub in both of its ways to log in. */
export const KINDS: readonly { name: string; start(): Promise<FakeForge> }[] = [
  { name: 'GitHub', start: () => startGithub() },
  { name: 'GitHub App', start: () => startGithub({ app: true }) },
  { name: 'GitLab', start: () => startGitlab() },
  { name: 'Gitea', start: () => startGitea('gitea') },
  { name: 'Forgejo', start: () => startGitea('forgejo') },
  { name: 'Bitbucket Cloud', start: () => startBitbucketCloud() },
  { name: 'Bitbucket Data Center', start: () => startBitbucketServer() },
];
