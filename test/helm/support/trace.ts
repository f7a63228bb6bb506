import assert from 'node:assert/strict';
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

/** By name. */
type Versions = Map<string, string | undefined>;

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
  const told = new Map<string, Versions>(KINDS.map(({ kind }) => [kind, new Map()]));
  const watches = KINDS.map((target) =>
    watchObjects(
      client,
      { ...target, namespace },
      {
        onEvent(type, object) {
          const at = Number(object.metadata.resourceVersion);
          const { name, resourceVersion } = object.metadata;
          if (type === 'deleted') told.get(target.kind)?.delete(name);
          else told.get(target.kind)?.set(name, resourceVersion);
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
      await untilCaughtUp(client, namespace, told);
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

/** When a watch has told of all that is there now, it has told of everything before too: each kind has a watch of its own. */
async function untilCaughtUp(
  client: KubeClient,
  namespace: string,
  told: ReadonlyMap<string, Versions>,
): Promise<void> {
  for (const target of KINDS)
    await eventually(async () => {
      const { items } = await client.list({ ...target, namespace, metadataOnly: true });
      const there = new Map(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
      assert.deepEqual(told.get(target.kind), there, 'the watch is behind');
    });
}
