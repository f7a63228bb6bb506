import type { TestContext } from 'node:test';
import type { KubeClient } from '../../src/cluster/client.ts';
import type { ShownStatus } from '../../src/playground/forge/repository.ts';
import { commitFiles, type NewFile } from '../../src/playground/gitcommit.ts';
import { HOOK_SECRET_KEY } from '../../src/reconcile/hooks.ts';
import {
  declareTestSync,
  startTestAgent,
  syncReaches,
  type TestAgent,
  type TestAgentOptions,
} from '../support/agent.ts';
import { testClient, testNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { type Forge, type Person, type TestRepository, testPerson, testRepository } from '../support/gitea.ts';
import { tempDir } from '../support/tempdir.ts';

export interface ForgeSceneOptions {
  files: Record<string, NewFile>;
  /** Of `spec.forge`, beside kind, address and Secret. */
  forge?: Record<string, unknown>;
  /** Of the Sync. */
  spec?: Record<string, unknown>;
  agent?: Partial<TestAgentOptions>;
  /** A Gitea of its own; default: that of the run. */
  gitea?: Forge;
  /** Phase that the scene begins at; undefined: before anything was looked at. */
  until?: string | undefined;
}

/** A repository on a real Gitea, a namespace with a Sync that follows it, and an agent that hears of pushes by a webhook. */
export interface ForgeScene {
  client: KubeClient;
  namespace: string;
  repository: TestRepository;
  readonly agent: TestAgent;
  /** Pushes to main as its owner: the forge tells the agent. */
  push(files: Record<string, NewFile>): Promise<string>;
  /** Several commits in one push, the oldest first. */
  pushTogether(all: Record<string, NewFile>[]): Promise<string[]>;
  /** What is shown at a commit now, by context. */
  statuses(commit: string): Promise<Record<string, ShownStatus>>;
  /** Everything that was ever said on a commit under a context, oldest first, as `state: description`. */
  history(commit: string, context?: string): Promise<string[]>;
  /** Waits until a context says this state on a commit; answers its description. */
  says(commit: string, state: string, context?: string): Promise<string>;
  /** Somebody with this right in the repository. */
  person(prefix: string, right: 'read' | 'write' | 'admin'): Promise<Person>;
  restartAgent(whileDown?: () => Promise<void>): Promise<void>;
  /** The same where the forge can't be told of the new agent's address: no webhook reaches that one. */
  restartUnheard(): Promise<void>;
}

const SECRET = 'forge';
const HOOK_EVENTS = ['push', 'pull_request', 'pull_request_sync', 'issue_comment', 'pull_request_comment'];
export const ALL = 'espalier/test';

export async function startForgeScene(t: Pick<TestContext, 'after'>, options: ForgeSceneOptions): Promise<ForgeScene> {
  const client = testClient();
  const namespace = await testNamespace(t);
  const repository = await testRepository(options.files, options.gitea === undefined ? {} : { forge: options.gitea });
  const webhookSecret = `hook-secret-of-${namespace}`;
  await client.apply(
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: SECRET, namespace },
      stringData: {
        username: repository.agent.name,
        password: repository.agent.token,
        token: repository.agent.token,
        [HOOK_SECRET_KEY]: webhookSecret,
      },
    },
    { fieldManager: 'test' },
  );
  const url = `${repository.forge.url}/${repository.name}.git`;
  await declareTestSync(client, {
    namespace,
    url,
    spec: {
      cluster: { name: 'test' },
      repository: { url, ref: { branch: 'main' }, secretRef: { name: SECRET } },
      forge: { kind: 'gitea', url: repository.forge.url, secretRef: { name: SECRET }, ...options.forge },
      ...options.spec,
    },
  });
  const cacheDir = await tempDir(t);
  const start = (): Promise<TestAgent> => startTestAgent(t, { namespace, cacheDir, ...options.agent });
  const listen = async (): Promise<void> =>
    await repository.createHook({
      url: `${agent.url}/hooks/${namespace}/sync`,
      secret: webhookSecret,
      events: HOOK_EVENTS,
    });
  let agent = await start();
  await listen();
  const scene: ForgeScene = {
    client,
    namespace,
    repository,
    get agent() {
      return agent;
    },
    push: (files) => repository.push(files),
    async pushTogether(all) {
      const { copy } = repository;
      await copy.fetch();
      const commits: string[] = [];
      for (const files of all) commits.push(await commitFiles(copy, files, { author: 'Ada <ada@example.com>' }));
      await copy.pushCommit(commits.at(-1) ?? '', 'main');
      return commits;
    },
    async statuses(commit) {
      const all = await repository.statuses(commit);
      return Object.fromEntries(all.map((status) => [status.context, status]));
    },
    async history(commit, context = ALL) {
      const all = await repository.statusHistory(commit);
      return all
        .filter((status) => status.context === context)
        .map((status) => `${status.state}: ${status.description}`);
    },
    async says(commit, state, context = ALL) {
      return await eventually(
        async () => {
          const found = (await scene.statuses(commit))[context];
          if (found?.state === state) return found.description;
          throw new Error(`${context} at ${commit} says ${found?.state ?? 'nothing'}: ${found?.description}`);
        },
        { timeoutMs: 90_000 },
      );
    },
    async person(prefix, right) {
      const person = await testPerson(prefix, repository.forge);
      await repository.addCollaborator(person.name, right);
      return person;
    },
    async restartUnheard() {
      await agent.stop();
      agent = await start();
    },
    async restartAgent(whileDown) {
      await agent.stop();
      await whileDown?.();
      agent = await start();
      for (const { id } of await repository.hooks()) await repository.deleteHook(id);
      await listen();
    },
  };
  const until = 'until' in options ? options.until : 'Ready';
  if (until !== undefined) await syncReaches(client, namespace, until);
  return scene;
}
