import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '../../src/api/index.ts';
import type { LeaderGuard } from '../../src/cluster/lease.ts';
import { runForLeader } from '../../src/cluster/lease.ts';
import { testClient, testKubeconfig, testNamespace } from '../support/cluster.ts';
import { always, eventually } from '../support/eventually.ts';
import { type HttpProxy, startHttpProxy } from '../support/httpproxy.ts';
import { uniqueName } from '../support/names.ts';
import { tempDir } from '../support/tempdir.ts';

const QUICK = { durationMs: 2_000, renewDeadlineMs: 1_400, retryMs: 300 };
/** Nobody loses it because the machine stops for some seconds. */
const STEADY = { durationMs: 60_000, renewDeadlineMs: 40_000, retryMs: 300 };
const CHILD = fileURLToPath(new URL('leaderchild.ts', import.meta.url));

interface Replica {
  identity: string;
  child: ChildProcessByStdio<null, Readable, null>;
  said: string;
}

/** Replicas as processes, in front of a proxy that sees what each of them writes. */
async function cluster(t: TestContext, timing: object) {
  const namespace = await testNamespace(t);
  const proxy = await startHttpProxy({ kubeconfig: testKubeconfig() });
  t.after(() => proxy.close());
  const kubeconfig = join(await tempDir(t), 'kubeconfig');
  await writeFile(kubeconfig, proxy.kubeconfig);

  async function start(): Promise<Replica> {
    const identity = uniqueName('replica');
    const args = [CHILD, kubeconfig, namespace, identity, JSON.stringify(timing)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    t.after(() => child.kill('SIGKILL'));
    const replica: Replica = { identity, child, said: '' };
    child.stdout.on('data', (chunk) => {
      replica.said += chunk;
    });
    return replica;
  }
  return { proxy, start };
}

/** Writes of this replica to the object that only the leader may write. */
function work(proxy: HttpProxy, { identity }: Replica): number {
  return proxy.requests.filter((seen) => seen.userAgent === identity && seen.path.includes('/configmaps/work')).length;
}

/** It has looked at the lease, so it is running and not just starting. */
const runs = (proxy: HttpProxy, { identity }: Replica) =>
  eventually(
    () => assert.ok(proxy.requests.some((seen) => seen.userAgent === identity && seen.path.includes('/leases/'))),
    {
      timeoutMs: 20_000,
    },
  );

const leads = (replica: Replica) => eventually(() => assert.match(replica.said, /leading\n$/), { timeoutMs: 30_000 });

describe('leader election', { concurrency: true }, () => {
  test('of two replicas one writes, and when it stops the other goes on without waiting for the end of the lease', async (t) => {
    const { proxy, start } = await cluster(t, STEADY);
    const first = await start();
    await leads(first);
    const second = await start();
    await runs(proxy, second);
    await eventually(() => assert.ok(work(proxy, first) > 20));
    assert.equal(work(proxy, second), 0);
    const stopped = performance.now();
    first.child.kill('SIGTERM');
    await leads(second);
    const ms = performance.now() - stopped;
    assert.ok(ms < 20_000, `${ms} ms`);
    await eventually(() => assert.ok(work(proxy, second) > 5));
    const written = work(proxy, first);
    await always(() => assert.equal(work(proxy, first), written), { forMs: 300 });
  });

  test('after SIGKILL of the leader another takes over soon after the 10 s of its lease', async (t) => {
    const { proxy, start } = await cluster(t, {});
    const first = await start();
    await leads(first);
    const second = await start();
    await runs(proxy, second);
    const killed = performance.now();
    first.child.kill('SIGKILL');
    await leads(second);
    const ms = performance.now() - killed;
    t.diagnostic(`takeover after ${Math.round(ms)} ms`);
    assert.ok(ms < 20_000, `${ms} ms`);
    await eventually(() => assert.ok(work(proxy, second) > 0));
  });

  test('a leader that is stopped and resumed never writes again', async (t) => {
    // Long enough for the second to keep it where the machine stops for some seconds: the first may then lead anew.
    const { proxy, start } = await cluster(t, { durationMs: 8_000, renewDeadlineMs: 7_000, retryMs: 300 });
    const first = await start();
    await leads(first);
    await eventually(() => assert.ok(work(proxy, first) > 10));
    const second = await start();
    await runs(proxy, second);
    first.child.kill('SIGSTOP');
    await leads(second);
    await eventually(() => assert.ok(work(proxy, second) > 5));
    const written = work(proxy, first);
    first.child.kill('SIGCONT');
    await eventually(() => assert.match(first.said, /lost/));
    await always(() => assert.equal(work(proxy, first), written), { forMs: 1_000 });
  });

  test('a leader that can’t reach the API server stops before another may start', async (t) => {
    const namespace = await testNamespace(t);
    const proxy = await startHttpProxy({ kubeconfig: testKubeconfig() });
    t.after(() => proxy.close());
    const log: string[] = [];
    const elect = (identity: string, client = testClient()) => {
      const lead = async (guard: LeaderGuard) => {
        log.push(`${identity} leads`);
        guard.signal.addEventListener('abort', () => log.push(`${identity} ends`));
      };
      const candidacy = runForLeader(client, { namespace, name: 'leader', identity, ...QUICK }, lead);
      t.after(() => candidacy.stop());
      return candidacy;
    };
    elect('cut-off', testClient({ kubeconfig: { text: proxy.kubeconfig } }));
    await eventually(() => assert.deepEqual(log, ['cut-off leads']));
    elect('other');
    // Where the machine stops for longer than the lease holds, its end comes before the next term as well.
    const oneAtATime = () => {
      for (const [at, said] of log.entries())
        if (at % 2 === 0) assert.match(said, / leads$/, log.join());
        else assert.equal(said, log[at - 1]?.replace('leads', 'ends'), log.join());
    };
    await always(oneAtATime, { forMs: 3_000 });
    proxy.before = () => 'hang';
    await eventually(() => assert.equal(log.at(-1), 'other leads'));
    oneAtATime();
    assert.ok(log.includes('cut-off ends'));
  });

  test('a lease that is deleted or taken by hand ends the term, and is run for again', async (t) => {
    const client = testClient();
    const namespace = await testNamespace(t);
    const ref = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name: 'leader' };
    const terms: LeaderGuard[] = [];
    const candidacy = runForLeader(client, { namespace, name: 'leader', identity: 'me', ...STEADY }, async (guard) => {
      terms.push(guard);
    });
    t.after(() => candidacy.stop());
    await eventually(() => assert.equal(terms.length, 1));
    assert.equal(candidacy.holder, 'me');
    const touched = await client.patch(ref, { metadata: { labels: { touched: 'yes' } } }, { type: 'merge' });
    const renewed = (lease: KubeObject | undefined) => (lease?.spec as { renewTime?: string } | undefined)?.renewTime;
    await eventually(async () => assert.notEqual(renewed(await client.get(ref)), renewed(touched)));
    assert.ok(terms[0]?.held(), 'an edit that leaves the holder alone changes nothing');
    await client.delete(ref);
    await eventually(() => assert.equal(terms.length, 2));
    assert.throws(() => terms[0]?.check());
    await client.patch(ref, { spec: { holderIdentity: 'someone', leaseDurationSeconds: 1 } }, { type: 'merge' });
    await eventually(() => assert.equal(terms.length, 3));
    await candidacy.stop();
    const released = await client.get(ref);
    assert.doesNotMatch(JSON.stringify(released?.spec), /holderIdentity/);
  });
});
