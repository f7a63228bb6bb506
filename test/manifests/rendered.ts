import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../src/api/index.ts';
import { runProgram } from '../../src/tools/run.ts';
import { toolPath } from '../../src/tools/tool.ts';

export const MANIFESTS = fileURLToPath(new URL('../../manifests', import.meta.url));

/** Builds a kustomization with the pinned kustomize; the objects come in the order in which to apply them. */
export async function buildKustomization(folder: string): Promise<KubeObject[]> {
  const kustomize = await toolPath('kustomize');
  const { code, stdout, stderr } = await runProgram(kustomize, { args: ['build', folder], timeoutMs: 60_000 });
  if (code !== 0) throw new Error(`kustomize build ${folder}: ${stderr}`);
  return parseAllDocuments(stdout).map((document): KubeObject => document.toJS());
}

/** An overlay as a user would write one, which installs everything under other names, so that tests do not meet. */
export async function writeOverlay(folder: string, namespace: string): Promise<string> {
  const overlay = join(folder, 'overlay');
  await mkdir(overlay);
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [relative(overlay, MANIFESTS)],
    namespace,
    nameSuffix: `-${namespace}`,
  };
  await writeFile(join(overlay, 'kustomization.yaml'), JSON.stringify(kustomization));
  return overlay;
}
