import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { privateHome } from '../../../src/playground/charts/registry.ts';
import { type RunResult, runProgram } from '../../../src/tools/run.ts';
import { toolPath } from '../../../src/tools/tool.ts';
import { testKubeconfig } from '../../support/cluster.ts';
import { tempDir } from '../../support/tempdir.ts';

const TIMEOUT_MS = 110_000;

/** The real Helm, as a person at a terminal uses it in one namespace, with a home of its own. */
export interface PlainHelm {
  /** What it prints; throws what it complains about. */
  (...args: string[]): Promise<string>;
  /** Whatever comes of it. */
  ending(...args: string[]): Promise<RunResult>;
  json<T>(...args: string[]): Promise<T>;
}

export async function plainHelm(
  t: Pick<TestContext, 'after'>,
  namespace: string,
  kubeconfig = testKubeconfig(),
): Promise<PlainHelm> {
  const home = join(await tempDir(t), 'home');
  await mkdir(home);
  const program = await toolPath('helm');
  const ending = (...args: string[]): Promise<RunResult> =>
    runProgram(program, {
      args: [...args, '--kubeconfig', kubeconfig, '-n', namespace],
      env: privateHome(home),
      timeoutMs: TIMEOUT_MS,
    });
  const helm = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await ending(...args);
    if (code !== 0) throw new Error(`helm ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  };
  const json = async <T>(...args: string[]): Promise<T> => JSON.parse(await helm(...args, '-o', 'json')) as T;
  return Object.assign(helm, { ending, json });
}
