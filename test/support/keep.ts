import { startControlPlane } from '../../src/playground/controlplane.ts';

/** `node test/support/keep.ts` keeps one control plane running, so that test runs need not start their own. Ctrl-C ends it. */
const started = performance.now();
const plane = await startControlPlane({ progress: (message) => console.error(message) });
console.error(`ready after ${((performance.now() - started) / 1000).toFixed(1)} s; Ctrl-C ends it`);
console.log(`export ESPALIER_TEST_KUBECONFIG=${plane.kubeconfigPath}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await plane.stop();
    process.exit(0);
  });
}
console.error(`${await plane.broken} ended by itself; its log is in ${plane.logs}`);
await plane.stop();
process.exitCode = 1;
