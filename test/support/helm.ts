import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { runProgram } from '../../src/tools/run.ts';
import { toolPath } from '../../src/tools/tool.ts';
import { testKubeconfig } from './cluster.ts';
import { tempDir } from './tempdir.ts';

/** What the real Helm prints; fails when it does. */
export async function runHelm(t: TestContext, args: string[], input?: string): Promise<string> {
  const home = await tempDir(t);
  const result = await runProgram(await toolPath('helm'), {
    args,
    env: { HOME: home, HELM_CACHE_HOME: join(home, 'cache'), KUBECONFIG: testKubeconfig() },
    input,
    timeoutMs: 60_000,
  });
  if (result.code !== 0) throw new Error(`helm ${args.join(' ')}: ${result.stderr}`);
  return result.stdout;
}
