import { request } from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Gitea, requestsOf, startGitea } from '../../src/playground/forge/gitea.ts';
import { createPerson, type Person, personOf } from '../../src/playground/forge/person.ts';
import type { HostedRepository } from '../../src/playground/forge/repository.ts';
import type { NewFile } from '../../src/playground/gitcommit.ts';
import { uniqueName } from './names.ts';
import { tempDir } from './tempdir.ts';

export { type Gitea, type HostedRepository, type Person, requestsOf };

/** Where the run's Gitea is asked for: it starts when the first file does (see setup.ts). */
export const GITEA_VARIABLE = 'ESPALIER_TEST_GITEA';

/** What one process tells another of a running Gitea. */
export interface GiteaAddress {
  url: string;
  root: string;
  admin: { name: string; password: string; token: string };
}

/** A Gitea and an account that may do everything there. */
export type Forge = Pick<Gitea, 'url' | 'root' | 'admin'>;

let shared: Promise<Forge> | undefined;

/** The Gitea that all test files of a run share. Nobody may disturb it: for that there is `ownGitea`. */
export function testGitea(): Promise<Forge> {
  shared ??= askForGitea();
  return shared;
}

/** A Gitea of the test's own, to be halted, resumed and stopped. Costs about a second of the processor. */
export async function ownGitea(t: Pick<TestContext, 'after'>): Promise<Gitea> {
  const gitea = await startGitea({ root: join(await tempDir(t), 'gitea') });
  t.after(() => gitea.stop());
  return gitea;
}

/** A new account, whose name nobody else has. */
export async function testPerson(prefix = 'ada', forge?: Forge): Promise<Person> {
  const { url, root, admin } = forge ?? (await testGitea());
  return await createPerson({ url, root }, admin, uniqueName(prefix));
}

export interface TestRepository extends HostedRepository {
  forge: Forge;
  /** Who owns it. */
  owner: Person;
  /** Whose token the agent has: a collaborator who may write, and install webhooks. */
  agent: Person;
  /** The first commit. */
  first: string;
  /** The same repository as somebody else sees and changes it. */
  as(person: Person): HostedRepository;
}

/** A private repository of a new owner, with its first commit on `main`, and an account for the agent. */
export async function testRepository(
  files: Record<string, NewFile> = { 'README.md': 'hello\n' },
  { forge, name = 'platform' }: { forge?: Forge; name?: string } = {},
): Promise<TestRepository> {
  const where = forge ?? (await testGitea());
  const owner = await testPerson('owner', where);
  const agent = await testPerson('espalier', where);
  const repository = await owner.createRepository(name);
  const first = await repository.push(files, { message: 'first' });
  await repository.addCollaborator(agent.name, 'admin');
  const as = (person: Person): HostedRepository => person.repository(repository.name);
  return { ...repository, forge: where, owner, agent, first, as };
}

async function askForGitea(): Promise<Forge> {
  const socketPath = process.env[GITEA_VARIABLE];
  if (socketPath === undefined) throw new Error(`${GITEA_VARIABLE} is not set: run the tests with npm test`);
  const text = await new Promise<string>((resolve, reject) => {
    request({ socketPath, path: '/' }, async (answer) => {
      answer.setEncoding('utf8');
      let body = '';
      for await (const part of answer) body += part;
      if (answer.statusCode === 200) resolve(body);
      else reject(new Error(`the Gitea of this run did not start: ${body}`));
    })
      .once('error', reject)
      .end();
  });
  const { url, root, admin }: GiteaAddress = JSON.parse(text);
  return { url, root, admin: personOf({ url, root, ...admin }) };
}
