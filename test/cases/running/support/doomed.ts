import type { TestContext } from 'node:test';
import type { KubeObject } from '../../../../src/api/index.ts';
import { declareTestSync, startTestAgent, syncReaches } from '../../../support/agent.ts';
import { testClient, testNamespace } from '../../../support/cluster.ts';
import { commitFiles, type NewFile, testGitServer } from '../../../support/gitserver.ts';
import type { SeenRequest } from '../../../support/httpproxy.ts';
import { tempDir } from '../../../support/tempdir.ts';
import type { Moment } from '../../support/moments.ts';
import { startMortal } from '../../support/mortal.ts';

export interface Fate extends Moment {
  /** Which requests are counted. */
  counts(request: SeenRequest): boolean;
}

/** An agent that dies by its fate, what comes meanwhile, and another agent. */
export async function startDoomedWith(t: TestContext, files: Record<string, NewFile>, fate: Fate) {
  const client = testClient();
  const namespace = await testNamespace(t, { prefix: 'orphan' });
  const repository = await (await testGitServer(t)).createRepository('platform');
  await commitFiles(repository, files);
  const spec = { poll: '1s', prune: { hold: { percent: 100, count: 1_000 } } };
  await declareTestSync(client, { namespace, url: repository.url, spec });
  const { counts, ...moment } = fate;
  const options = { namespace, body: 'abandoned', cacheDir: await tempDir(t), counts } as const;
  const agent = await startMortal(t, { ...options, moment });
  return {
    namespace,
    agent,
    find: (name: string): Promise<KubeObject | undefined> =>
      client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name }),
    push: (files: Record<string, NewFile>) => commitFiles(repository, files),
    /** Everything is settled at the commit, by an agent that knows nothing but the cluster. */
    async goOn(commit: string): Promise<void> {
      await client.delete({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        namespace,
        name: 'espalier-agent',
      });
      await startTestAgent(t, { namespace });
      await syncReaches(client, namespace, 'Ready', { commit, timeoutMs: 60_000 });
    },
  };
}
