import { join } from 'node:path';
import { createClient } from '../../src/cluster/client.ts';
import { type ControlPlane, startControlPlane } from '../../src/playground/controlplane.ts';
import { playgroundRoot } from '../../src/playground/folder.ts';
import { cacheFor } from '../../src/tools/cache.ts';
import { installKinds } from '../api/install.ts';
import { GITEA_VARIABLE } from './gitea.ts';
import { type GiteaKeeper, keepGitea } from './gitea-keeper.ts';

/** Where tests find their cluster. Set it (see keep.ts) to use one that already runs. */
const VARIABLE = 'ESPALIER_TEST_KUBECONFIG';
/** Set when the control plane ends with the run, so that nobody need clean it up. */
const DISPOSABLE = 'ESPALIER_TEST_DISPOSABLE';

let plane: ControlPlane | undefined;
let forge: GiteaKeeper | undefined;

/**
 * One control plane for all test files of a run, with our kinds as they are now, and one Gitea once a file asks for it;
 * every test process inherits the variables. `root`: where they keep their files, if not where playgrounds do.
 */
export async function globalSetup(root = playgroundRoot()): Promise<void> {
  // Every test file is a process that loads much the same modules: what one has compiled, the next need not.
  process.env.NODE_COMPILE_CACHE ??= join(cacheFor(process.env).root, 'compiled');
  if (process.env[VARIABLE] === undefined) {
    process.env[VARIABLE] = await start(root);
    process.env[DISPOSABLE] = '1';
  }
  const client = createClient({ kubeconfig: process.env[VARIABLE] });
  await installKinds(client);
  await client.close();
  forge = await keepGitea(root);
  process.env[GITEA_VARIABLE] = forge.socketPath;
}

async function start(root: string): Promise<string> {
  const started = performance.now();
  plane = await startControlPlane({ root, progress: (message) => console.error(`# test cluster: ${message}`) });
  console.error(`# test cluster: ready after ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return plane.kubeconfigPath;
}

export async function globalTeardown(): Promise<void> {
  await forge?.stop();
  await plane?.stop();
}
