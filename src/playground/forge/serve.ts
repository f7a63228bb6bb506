import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { RunningAgent } from '../agentseam.ts';
import { initRepository, seedRepository } from '../gitrepository.ts';
import type { Followed } from '../install.ts';
import { type Gitea, startGitea } from './gitea.ts';
import { createPerson } from './person.ts';
import type { HostedRepository } from './repository.ts';

/** The forge of a playground, for whoever looks at it or proposes a change. */
export interface PlaygroundForge {
  kind: 'gitea';
  url: string;
  /** The repository in a browser. */
  page: string;
  /** Who owns the repository, and may do everything with it. */
  user: string;
  password: string;
  /** A colleague's view of it: they may write. */
  colleague: HostedRepository;
  /** The account that the agent answers with. */
  agent: string;
}

export interface ServedByForge {
  git: { url: string; user: string; password: string };
  forge: PlaygroundForge;
  followed: Pick<Followed, 'url' | 'user' | 'password' | 'forge'>;
  tell(agent: RunningAgent, path: string): Promise<void>;
  broken: Promise<string>;
}

const [OWNER, COLLEAGUE, AGENT] = ['ada', 'grace', 'espalier'] as const;
const EVENTS = ['push', 'pull_request', 'issue_comment'];

export interface StartedForge {
  /** Makes people, and the repository with the content of a folder as its first commit. */
  serve(name: string, seed: string, replace: Readonly<Record<string, string>>): Promise<ServedByForge>;
}

export async function startForge(
  parts: AsyncDisposableStack,
  folder: string,
  signal: AbortSignal,
): Promise<StartedForge> {
  const gitea = await startGitea({ root: join(folder, 'gitea'), signal });
  parts.defer(() => gitea.stop());
  return { serve: (name, seed, replace) => serve(gitea, name, seed, replace) };
}

async function serve(
  gitea: Gitea,
  name: string,
  seed: string,
  replace: Readonly<Record<string, string>>,
): Promise<ServedByForge> {
  const [owner, colleague, agent] = await Promise.all([
    createPerson(gitea, gitea.admin, OWNER),
    createPerson(gitea, gitea.admin, COLLEAGUE),
    createPerson(gitea, gitea.admin, AGENT),
  ]);
  const repository = await owner.createRepository(name);
  const local = await initRepository(join(gitea.root, 'copies'), repository.name);
  await repository.pushCommit(await seedRepository(local, seed, replace));
  await repository.addCollaborator(COLLEAGUE, 'write');
  // Whether somebody may write is told to nobody less.
  await repository.addCollaborator(AGENT, 'admin');
  const webhookSecret = randomBytes(18).toString('base64url');
  return {
    git: { url: repository.url, user: OWNER, password: owner.password },
    forge: {
      kind: 'gitea',
      url: gitea.url,
      page: repository.page,
      user: OWNER,
      password: owner.password,
      colleague: colleague.repository(repository.name),
      agent: AGENT,
    },
    followed: {
      ...{ url: repository.url, user: AGENT, password: agent.token },
      forge: { kind: 'gitea', url: gitea.url, token: agent.token, webhookSecret },
    },
    async tell({ http }, path) {
      if (http === null) return;
      await repository.createHook({ url: `${http}${path}`, secret: webhookSecret, events: EVENTS });
    },
    broken: gitea.broken,
  };
}
