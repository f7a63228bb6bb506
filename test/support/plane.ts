import type { TestContext } from 'node:test';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../../src/playground/controlplane.ts';
import { tempDir } from './tempdir.ts';

/** A control plane of the test's own, for what would disturb the others: restarts, crashes. Costs about 4 s. */
export async function ownControlPlane(
  t: Pick<TestContext, 'after'>,
  options: ControlPlaneOptions = {},
): Promise<ControlPlane> {
  const plane = await startControlPlane({ root: await tempDir(t), ...options });
  t.after(() => plane.stop());
  return plane;
}
