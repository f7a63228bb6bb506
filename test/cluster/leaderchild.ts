import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../../src/cluster/client.ts';
import { runForLeader } from '../../src/cluster/lease.ts';

/**
 * A replica in a process of its own: while it leads it writes a ConfigMap again and again through its guard. It says
 * `leading` and `lost` on stdout, and gives the lease up on SIGTERM.
 */
const [kubeconfig = '', namespace = '', identity = '', timing = '{}'] = process.argv.slice(2);
const client = createClient({ kubeconfig, userAgent: identity });

const candidacy = runForLeader(
  client,
  { namespace, name: 'leader', identity, ...JSON.parse(timing), onError: (error) => console.error(error.message) },
  async (guard) => {
    const guarded = client.guarded(() => guard.check());
    console.log('leading');
    for (let n = 0; !guard.signal.aborted; n++) {
      const object = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'work', namespace },
        data: { n: String(n), identity },
      };
      await guarded
        .apply(object, { fieldManager: 'worker', force: true })
        .catch((error) => console.error(error.message));
      await delay(5);
    }
    console.log('lost');
  },
);

process.once('SIGTERM', async () => {
  await candidacy.stop();
  await client.close();
});
