import type { TestContext } from 'node:test';
import type { KubeClient } from '../../../src/cluster/client.ts';
import type { NewFile } from '../../../src/playground/gitcommit.ts';
import { declareTestSync } from '../../support/agent.ts';
import { testClient, testNamespace } from '../../support/cluster.ts';
import { type TestRepository, testRepository } from '../../support/gitea.ts';

/** A private repository on a real Gitea and a Sync that follows it, named `sync`; no agent looks at it. */
export interface Followed {
  client: KubeClient;
  namespace: string;
  repository: TestRepository;
  /** Changes keys of the Sync's Secret `forge`. */
  putSecret(data: Record<string, string>): Promise<void>;
  secret(): Promise<Record<string, string>>;
}

export interface FollowedOptions {
  files?: Record<string, NewFile>;
  /** Of the Sync, beside its repository. */
  spec?: Record<string, unknown>;
  ref?: Record<string, string>;
}

export async function startFollowed(t: Pick<TestContext, 'after'>, options: FollowedOptions = {}): Promise<Followed> {
  const client = testClient();
  const namespace = await testNamespace(t);
  const repository = await testRepository(options.files);
  const { agent, forge } = repository;
  const ref = { apiVersion: 'v1', kind: 'Secret', namespace, name: 'forge' };
  const putSecret = async (stringData: Record<string, string>): Promise<void> => {
    await client.patch(ref, { stringData }, { type: 'merge' });
  };
  await client.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'forge', namespace } });
  await putSecret({ username: agent.name, password: agent.token, token: agent.token });
  const url = `${forge.url}/${repository.name}.git`;
  await declareTestSync(client, {
    namespace,
    url,
    spec: {
      cluster: { name: 'test' },
      repository: { url, ref: options.ref ?? { branch: 'main' }, secretRef: { name: 'forge' } },
      forge: { kind: 'gitea', url: forge.url, secretRef: { name: 'forge' } },
      ...options.spec,
    },
  });
  return {
    client,
    namespace,
    repository,
    putSecret,
    async secret() {
      const data = ((await client.get(ref))?.data ?? {}) as Record<string, string>;
      return Object.fromEntries(
        Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
      );
    },
  };
}
