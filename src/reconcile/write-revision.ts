import {
  ANNOTATION,
  isError,
  type KubeObject,
  LABEL,
  messageOf,
  type Plugin,
  refKey,
  refOf,
  SYNC_MANAGER,
  type Sync,
  type SyncFault,
  type SyncInventoryEntry,
} from '../api/index.ts';
import { settleAll } from '../converge/limit.ts';
import { originFiles } from '../declare/origin.ts';
import { hashFields } from '../plan/fields.ts';
import { asAccount } from './account.ts';
import type { Compiled, Wanted } from './compile.ts';
import { ourFieldsOf } from './manager.ts';
import { keyOf } from './store.ts';
import type { SyncMemory } from './sync-memory.ts';
import type { SyncParts } from './sync-parts.ts';
import { writeStatus } from './write-status.ts';

const PARALLEL_WRITES = 16;

export interface WrittenRevision {
  inventory: SyncInventoryEntry[];
  faults: SyncFault[];
}

/**
 * Makes the objects that a revision declares be in the cluster, a level of dependencies at a time, and touches only
 * those that the commit touched or that somebody edited. Ownership is on record before anything is created.
 */
export async function writeRevision(
  parts: SyncParts,
  key: string,
  sync: Sync,
  compiled: Compiled,
  memory: SyncMemory,
  signal: AbortSignal,
): Promise<WrittenRevision> {
  const record = new Map((sync.status?.inventory ?? []).map((entry) => [refKey(entry), entry]));
  const faults: SyncFault[] = [];
  parts.declared.setHead(key, compiled.commit);
  const todo = compiled.levels.map((level) => level.filter((one) => needsWriting(parts, sync, one, record, faults)));
  const count = todo.reduce((sum, level) => sum + level.length, 0);
  if (count > 0) {
    parts.declared.beginRevision(key);
    const intended = new Map(record);
    for (const one of todo.flat()) if (!intended.has(one.key)) intended.set(one.key, refOf(one.object));
    if (intended.size !== record.size && sync.metadata.uid !== undefined) {
      const status = { ...sync.status, inventory: [...intended.values()] };
      const written = await writeStatus(parts.client, { ...refOf(sync), uid: sync.metadata.uid }, sync.status, status);
      if (written !== undefined) parts.syncs.put(written);
    }
    for (const [at, entry] of intended) record.set(at, entry);
  }
  const client = asAccount(
    parts.client,
    sync.spec.serviceAccountName === undefined
      ? undefined
      : { namespace: sync.metadata.namespace ?? '', name: sync.spec.serviceAccountName },
  );
  for (const level of todo) {
    signal.throwIfAborted();
    const results = await settleAll(level, PARALLEL_WRITES, async (one) => {
      const object = await client.apply(withCommit(parts, one, compiled.commit), {
        fieldManager: SYNC_MANAGER,
        force: true,
      });
      parts.storeFor(object.kind)?.put(object);
      return object;
    });
    results.forEach((result, index) => {
      const one = level[index];
      if (one === undefined) return;
      if (result.status === 'fulfilled')
        record.set(one.key, {
          ...refOf(result.value),
          ...(result.value.metadata.uid === undefined ? {} : { uid: result.value.metadata.uid }),
          fields: hashFields(ourFieldsOf(result.value)),
        });
      else faults.push(faultOfWrite(one, result.reason));
    });
  }
  parts.declared.setRevision(key, compiled.plugins, compiled.faults.length + faults.length === 0);
  if (!memory.written || count > 0) wakeUnsettled(parts, compiled);
  memory.written = true;
  return { inventory: [...record.values()], faults };
}

/** Whether an object must be written: it is not there, was made from something else, or somebody edited what we wrote. */
function needsWriting(
  parts: SyncParts,
  sync: Sync,
  wanted: Wanted,
  record: ReadonlyMap<string, SyncInventoryEntry>,
  faults: SyncFault[],
): boolean {
  const live = parts.storeFor(wanted.object.kind)?.get(keyOf(wanted.object));
  if (live === undefined) return true;
  if (live.metadata.deletionTimestamp !== undefined) return false;
  const owner = live.metadata.labels?.[LABEL.sync];
  const isOurs =
    owner === sync.metadata.name && live.metadata.labels?.[LABEL.syncNamespace] === sync.metadata.namespace;
  if (!isOurs && !mayAdopt(parts, live, wanted, faults)) return false;
  const entry = record.get(wanted.key);
  const { annotations } = live.metadata;
  const sameFiles =
    originFiles(annotations?.[ANNOTATION.origin]).join() ===
    originFiles(wanted.object.metadata.annotations?.[ANNOTATION.origin]).join();
  if (annotations?.[ANNOTATION.inputs] !== wanted.inputs || !sameFiles || entry?.uid !== live.metadata.uid) return true;
  return parts.storeFor(wanted.object.kind)?.fields(keyOf(live)) !== entry?.fields;
}

/** An object of another Sync, or one that a person made, is left alone unless its declaration says otherwise. */
function mayAdopt(parts: SyncParts, live: KubeObject, wanted: Wanted, faults: SyncFault[]): boolean {
  const labels = live.metadata.labels ?? {};
  const owner = labels[LABEL.sync] === undefined ? undefined : `${labels[LABEL.syncNamespace]}/${labels[LABEL.sync]}`;
  const adopt = [live, wanted.object].some((object) => object.metadata.annotations?.[ANNOTATION.adopt] === 'true');
  if (owner === undefined && adopt) return true;
  if (owner !== undefined && (parts.syncs.get(owner) === undefined || parts.declared.isDropped(owner, keyOf(live))))
    return true;
  const [file = ''] = originFiles(wanted.object.metadata.annotations?.[ANNOTATION.origin]);
  const object = `${live.kind} ${live.metadata.name}`;
  const message =
    owner === undefined
      ? `it exists already and no Sync wrote it; to take it over, annotate it with ${ANNOTATION.adopt}: "true"`
      : `Sync ${owner} declares it already, and keeps it`;
  faults.push({ file, message, object });
  return false;
}

/** The commit that last touched what a Plugin is made of: it stays when the inputs do. */
function withCommit(parts: SyncParts, { object, inputs }: Wanted, commit: string): KubeObject {
  if (object.kind !== 'Plugin') return object;
  const plugin = object as unknown as Plugin;
  const { git } = plugin.spec.source;
  const live = parts.plugins.get(keyOf(object));
  const same =
    live?.metadata.annotations?.[ANNOTATION.inputs] === inputs
      ? live.metadata.annotations[ANNOTATION.commit]
      : undefined;
  const since = same ?? commit;
  const annotations = { ...object.metadata.annotations, [ANNOTATION.commit]: since };
  const metadata = { ...object.metadata, annotations };
  if (git === undefined || git.url !== undefined) return { ...object, metadata };
  const spec = { ...plugin.spec, source: { ...plugin.spec.source, git: { ...git, commit: since } } };
  return { ...object, metadata, spec };
}

function faultOfWrite(wanted: Wanted, error: unknown): SyncFault {
  if (isError(error, 'LeaseLost', 'Aborted')) throw error;
  if (isError(error, 'KubeUnreachable', 'KubeServerError', 'KubeThrottled', 'KubeTimedOut')) throw error;
  const [file = ''] = originFiles(wanted.object.metadata.annotations?.[ANNOTATION.origin]);
  return { file, message: messageOf(error), object: `${wanted.object.kind} ${wanted.object.metadata.name}` };
}

/** Those that wait to hear what the revision declares. What was written wakes by itself. */
function wakeUnsettled(parts: SyncParts, compiled: Compiled): void {
  for (const key of compiled.plugins) if (parts.plugins.get(key)?.status?.phase !== 'Ready') parts.wakePlugin(key);
}
