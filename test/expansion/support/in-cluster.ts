import type { TestContext } from 'node:test';
import { API_VERSION, type KubeObject } from '../../../src/api/index.ts';
import { watchObjects } from '../../../src/cluster/watch.ts';
import { delegated, runOperator } from '../../../src/operator/operator.ts';
import type { Platform } from '../../cases/support/platform.ts';
import { eventually } from '../../support/eventually.ts';

type Context = Pick<TestContext, 'after'>;

/** Does what an operator does: says that a condition is true. */
export async function openGate({ client, ref }: Platform, record: string, condition: string): Promise<void> {
  const body = { data: { [condition]: 'True' } };
  await eventually(() => client.patch(ref('ConfigMap', record), body, { type: 'merge', fieldManager: 'operator' }));
}

/** An operator made with the SDK, with the rights of the account that its package has here, until it has done this. */
export async function runOperatorOnce(
  { client, namespace }: Platform,
  { expansion, version }: { expansion: string; version: string },
  condition: string,
): Promise<void> {
  const stop = new AbortController();
  const name = `system:serviceaccount:${namespace}:${expansion}-operator`;
  const handlers = { [condition]: async () => 'it is done' };
  const own = client.as({ name, groups: ['system:serviceaccounts', 'system:authenticated'] });
  const options = { client: own, expansion, version, namespace, log: () => undefined };
  const ended = runOperator(handlers, { ...options, signal: stop.signal });
  try {
    await eventually(async () => {
      const [found] = await delegated(options);
      if (found?.reported?.status !== 'True') throw new Error(`${condition} is ${found?.reported?.status}`);
    });
  } finally {
    stop.abort();
    await ended;
  }
}

/** Names of the Jobs that were made, in order, each as often as it was made. */
export function watchJobs(t: Context, { client, namespace }: Pick<Platform, 'client' | 'namespace'>) {
  const begun = new Map<string, string>();
  const watch = watchObjects(
    client,
    { apiVersion: 'batch/v1', kind: 'Job', namespace },
    {
      onEvent(type, { metadata }) {
        if (type !== 'deleted') begun.set(metadata.uid ?? '', metadata.name);
      },
    },
  );
  t.after(() => watch.stop());
  return { begun: (): string[] => [...begun.values()], synced: watch.synced };
}

/** Names of the Plugins that went away, in order. */
export function watchGone(t: Context, { client, namespace }: Pick<Platform, 'client' | 'namespace'>): () => string[] {
  const gone: string[] = [];
  const watch = watchObjects(
    client,
    { apiVersion: API_VERSION, kind: 'Plugin', namespace },
    {
      onEvent(type, { metadata }) {
        if (type === 'deleted') gone.push(metadata.name);
      },
    },
  );
  t.after(() => watch.stop());
  return () => gone;
}

export async function theJob({ get }: Platform, name: string): Promise<KubeObject> {
  const job = await get('Job', name, 'batch/v1');
  if (job === undefined) throw new Error(`there is no Job ${name}`);
  return job;
}
