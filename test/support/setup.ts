import { type ControlPlane, startControlPlane } from '../../src/playground/controlplane.ts';

/** Where tests find their cluster. Set it (see keep.ts) to use one that already runs. */
const VARIABLE = 'ESPALIER_TEST_KUBECONFIG';

let plane: ControlPlane | undefined;

/** One control plane for all test files of a run; every test process inherits the variable. */
export async function globalSetup(): Promise<void> {
  if (process.env[VARIABLE] !== undefined) return;
  const started = performance.now();
  plane = await startControlPlane({ progress: (message) => console.error(`# test cluster: ${message}`) });
  console.error(`# test cluster: ready after ${((performance.now() - started) / 1000).toFixed(1)} s`);
  process.env[VARIABLE] = plane.kubeconfigPath;
}

export async function globalTeardown(): Promise<void> {
  await plane?.stop();
}
