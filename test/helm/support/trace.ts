import type { TestContext } from 'node:test';
import type { KubeObject } from '../../../src/api/index.ts';
import type { KubeClient } from '../../../src/cluster/client.ts';
import { watchObjects } from '../../../src/cluster/watch.ts';
import { eventually } from '../../support/eventually.ts';

const KINDS = [
  { apiVersion: 'v1', kind: 'ConfigMap' },
  { apiVersion: 'v1', kind: 'ServiceAccount' },
  { apiVersion: 'v1', kind: 'Pod' },
  { apiVersion: 'batch/v1', kind: 'Job' },
];
const HOOK = 'helm.sh/hook';
/** What is no hook: in which order a release's own objects are written is not told apart. */
const BODY = "the release's objects";

interface Seen {
  /** The API server's count of writes: one order for all kinds. */
  at: number;
  what: string;
}

/** Writes down what becomes of hooks in a namespace, in the order in which the API server did it. */
export interface HookTrace {
  /** `made Job migrate`, `done Job migrate`, `gone Job migrate`, and when the objects that are no hooks were written. */
  take(): Promise<string[]>;
}

export async function traceHooks(
  t: Pick<TestContext, 'after'>,
  client: KubeClient,
  namespace: string,
): Promise<HookTrace> {
  let seen: Seen[] = [];
  const done = new Set<string>();
  let latest = 0;
  const watches = KINDS.map((target) =>
    watchObjects(
      client,
      { ...target, namespace },
      {
        onEvent(type, object) {
          const at = Number(object.metadata.resourceVersion);
          latest = Math.max(latest, at);
          const what = whatOf(type, object, done);
          if (what !== undefined) seen.push({ at, what });
        },
      },
    ),
  );
  t.after(() => Promise.all(watches.map((watch) => watch.stop())));
  await Promise.all(watches.map(({ synced }) => synced));
  seen = [];
  return {
    async take() {
      await untilCaughtUp(client, namespace, () => latest);
      const ordered = seen.sort((a, b) => a.at - b.at).map(({ what }) => what);
      seen = [];
      return ordered.filter((what, index) => what !== BODY || ordered[index - 1] !== BODY);
    },
  };
}

function whatOf(type: 'added' | 'modified' | 'deleted', object: KubeObject, done: Set<string>): string | undefined {
  const { metadata, kind } = object;
  const isHook = metadata.annotations?.[HOOK] !== undefined;
  if (!isHook) {
    const isBody =
      metadata.labels?.['app.kubernetes.io/managed-by'] === 'Helm' && metadata.ownerReferences === undefined;
    return isBody && kind === 'ConfigMap' && type !== 'deleted' ? BODY : undefined;
  }
  const name = `${kind} ${metadata.name}`;
  if (type === 'added') return `made ${name}`;
  if (type === 'deleted') return `gone ${name}`;
  const uid = metadata.uid ?? '';
  if (!isDone(object) || done.has(uid)) return undefined;
  done.add(uid);
  return `done ${name}`;
}

function isDone({ status }: KubeObject & { status?: unknown }): boolean {
  const { conditions = [], phase } = (status ?? {}) as {
    conditions?: { type: string; status: string }[];
    phase?: string;
  };
  const isFinished = conditions.some(
    ({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True',
  );
  return isFinished || phase === 'Succeeded';
}

/** A write of our own at the end: when every earlier one has been told, so has this. */
async function untilCaughtUp(client: KubeClient, namespace: string, latest: () => number): Promise<void> {
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'trace-mark' };
  const { apiVersion, kind, name } = ref;
  const mark = { apiVersion, kind, metadata: { name, namespace }, data: { at: String(process.hrtime.bigint()) } };
  const made = await client.apply(mark, { fieldManager: 'trace' });
  const at = Number(made.metadata.resourceVersion);
  await eventually(() => {
    if (latest() < at) throw new Error('the watch is behind');
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  await client.delete(ref);
}
