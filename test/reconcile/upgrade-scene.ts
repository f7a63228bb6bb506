import type { TestContext } from 'node:test';
import type { KubeObject } from '../../src/api/index.ts';
import { createClient, type KubeClient } from '../../src/cluster/client.ts';
import type { ControlPlane } from '../../src/playground/controlplane.ts';
import type { ServedRepository } from '../../src/playground/gitserver.ts';
import { TOOLS } from '../../src/tools/table.ts';
import { installKinds } from '../api/install.ts';
import { declareTestSync, startTestAgent, syncReaches, type TestAgent } from '../support/agent.ts';
import { commitFiles, type NewFile, testGitServer } from '../support/gitserver.ts';
import { ownControlPlane } from '../support/plane.ts';

/** The servers of a control plane that is upgraded. */
export const OLDER = '1.35.2';
export const NEWER = TOOLS['kube-apiserver'].version;

/** A cluster of its own whose Kubernetes can be upgraded, with a repository, a Sync and an agent. Costs about 10 s. */
export interface UpgradeScene {
  plane: ControlPlane;
  client: KubeClient;
  namespace: string;
  repository: ServedRepository;
  agent: TestAgent;
  /** Of the scene's namespace; undefined: it is not there. */
  find(apiVersion: string, kind: string, name: string): Promise<KubeObject | undefined>;
  /** Commits, and waits until the Sync says that it is in force. */
  settle(files: Record<string, NewFile>, phase?: string): Promise<string>;
  /** Kubernetes becomes the newer one, with the same data: as an upgrade of a control plane with one server. */
  upgrade(): Promise<void>;
}

export async function startUpgradeScene(
  t: Pick<TestContext, 'after'>,
  options: { files: Record<string, NewFile>; spec?: Record<string, unknown>; until?: string },
): Promise<UpgradeScene> {
  const plane = await ownControlPlane(t, { kubernetesVersion: OLDER, nodes: 1 });
  const client = createClient({ kubeconfig: plane.kubeconfigPath });
  t.after(() => client.close());
  const namespace = 'platform';
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await installKinds(client);
  const repository = await (await testGitServer(t)).createRepository('platform');
  await commitFiles(repository, options.files);
  await declareTestSync(client, { namespace, url: repository.url, spec: options.spec ?? {} });
  const agent = await startTestAgent(t, { namespace, kubeconfig: plane.kubeconfigPath });
  await syncReaches(client, namespace, options.until ?? 'Ready');
  return {
    ...{ plane, client, namespace, repository, agent },
    find: (apiVersion, kind, name) => client.get({ apiVersion, kind, namespace, name }),
    async settle(files, phase = 'Ready') {
      const commit = await commitFiles(repository, files);
      agent.lookNow();
      await syncReaches(client, namespace, phase, { commit });
      return commit;
    },
    upgrade: () => plane.changeVersion(NEWER, { graceMs: 0 }),
  };
}
