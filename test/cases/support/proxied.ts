import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { testKubeconfig } from '../../support/cluster.ts';
import { type HttpProxy, startHttpProxy } from '../../support/httpproxy.ts';
import { tempDir } from '../../support/tempdir.ts';

/** A proxy in front of the API server for one agent, with the kubeconfig that leads the agent through it. */
export async function startProxied(t: Pick<TestContext, 'after'>): Promise<{ proxy: HttpProxy; kubeconfig: string }> {
  const proxy = await startHttpProxy({ kubeconfig: testKubeconfig() });
  t.after(() => proxy.close());
  const kubeconfig = join(await tempDir(t), 'kubeconfig');
  await writeFile(kubeconfig, proxy.kubeconfig);
  return { proxy, kubeconfig };
}
