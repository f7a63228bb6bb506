import type { TestContext } from 'node:test';
import type { KubeObject } from '../../../src/api/index.ts';
import type { KubeClient } from '../../../src/cluster/client.ts';
import { watchObjects } from '../../../src/cluster/watch.ts';
import type { Platform } from './platform.ts';
import { yaml } from './platform.ts';
import type { Widgets } from './widgets.ts';

export const FINALIZER = 'widgets.example.com/cleanup';

export interface Operator {
  /** What became of things, in order: `Widget one asked to go`, `Widget one released`, `Deployment gone`. */
  readonly story: readonly string[];
  stop(): Promise<void>;
}

/** Does what an operator does, for as long as its Deployment exists: lets a Widget go once it has cleaned up behind it. */
export function startOperator(
  t: Pick<TestContext, 'after'>,
  { client, namespace }: Platform,
  widgets: Widgets,
): Operator {
  const story: string[] = [];
  const asked = new Set<string>();
  let works = true;
  const deployments = watchObjects(
    client,
    { apiVersion: 'apps/v1', kind: 'Deployment', namespace },
    {
      onEvent(type, { metadata }) {
        const goes = type === 'deleted' || metadata.deletionTimestamp !== undefined;
        if (metadata.name !== 'operator' || !goes || !works) return;
        works = false;
        story.push('Deployment gone');
      },
    },
  );
  const objects = watchObjects(
    client,
    { apiVersion: widgets.apiVersion, kind: 'Widget', namespace },
    {
      onEvent(type, object) {
        if (type === 'deleted' || object.metadata.deletionTimestamp === undefined) return;
        if (asked.has(object.metadata.name)) return;
        asked.add(object.metadata.name);
        story.push(`Widget ${object.metadata.name} asked to go`);
        void cleanUp(object);
      },
    },
  );
  async function cleanUp(object: KubeObject): Promise<void> {
    // Cleaning up takes a moment, and that is when an operator must not be gone.
    await new Promise((resolve) => setTimeout(resolve, 300));
    if (!works) return;
    // Before it is asked for: what follows from it may be heard of before the answer is.
    story.push(`Widget ${object.metadata.name} released`);
    await release(client, object);
  }
  const stop = async (): Promise<void> => {
    await Promise.all([deployments.stop(), objects.stop()]);
  };
  t.after(stop);
  return { story, stop };
}

async function release(client: KubeClient, { apiVersion, kind, metadata }: KubeObject): Promise<void> {
  const ref = { apiVersion, kind, namespace: metadata.namespace ?? '', name: metadata.name };
  await client.patch(ref, { metadata: { finalizers: null } }, { type: 'merge' });
}

export function operatorDeployment(): string {
  const labels = { app: 'operator' };
  return yaml({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'operator' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'operator', image: 'registry.example.com/operator:1' }],
        },
      },
    },
  });
}
