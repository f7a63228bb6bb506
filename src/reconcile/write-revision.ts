import {
  ANNOTATION,
  isError,
  type KubeObject,
  LABEL,
  messageOf,
  refKey,
  refOf,
  SYNC_MANAGER,
  type Sync,
  type SyncFault,
  type SyncInventoryEntry,
} from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { UNHEARD } from '../converge/apply.ts';
import { settleAll } from '../converge/limit.ts';
import { originFiles } from '../declare/origin.ts';
import { hashFields } from '../plan/fields.ts';
import { asAccount } from './account.ts';
import { whyNotOurs, withCommit } from './claim.ts';
import type { Compiled } from './compile.ts';
import { followsRepository } from './folders.ts';
import { ourFieldsOf } from './manager.ts';
import { factsKeyOf, parentKeyOf, rootOf } from './nesting.ts';
import { keyOf, type Stored } from './store.ts';
import type { SyncMemory } from './sync-memory.ts';
import type { SyncParts } from './sync-parts.ts';
import type { Wanted } from './wanted.ts';

const PARALLEL_WRITES = 16;

export interface WrittenRevision {
  inventory: SyncInventoryEntry[];
  faults: SyncFault[];
  /** One of the faults that time may heal: come back for it with back-off. */
  retry: unknown;
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
  let retry: unknown;
  parts.declared.setHead(key, compiled.commit);
  const todo = compiled.levels.map((level) => level.filter((one) => needsWriting(parts, sync, one, record, faults)));
  const count = todo.reduce((sum, level) => sum + level.length, 0);
  if (count > 0) {
    parts.declared.beginRevision(key);
    const intended = new Map(record);
    // What is gone gets another UID than the one on record: who removes it before that is known finds it by its labels.
    const made = todo.flat().filter((one) => isNewOnRecord(parts, one, record.get(one.key)));
    for (const one of made) intended.set(one.key, refOf(one.object));
    if (made.length > 0)
      await parts.statuses.change(key, ({ status }) => ({ ...status, inventory: [...intended.values()] }));
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
    const results = await parts.crowd.awaiting(level.length, (come) =>
      settleAll(level, PARALLEL_WRITES, async (one) => {
        await leaveParent(parts, client, one.object);
        const object = await client
          .apply(withCommit(one, compiled.commit, parts.plugins.get(keyOf(one.object))), {
            fieldManager: SYNC_MANAGER,
            force: true,
            ...UNHEARD,
          })
          .finally(come);
        const store = parts.storeFor(object.kind);
        store?.put(object);
        const fields = store?.fieldsIn(object) ?? hashFields(ourFieldsOf(object));
        // Another Sync wrote it at the same moment, and what came of that was here first.
        return { object, fields, why: whyNotMine(parts, sync, store?.get(keyOf(object)), one) };
      }),
    );
    results.forEach((result, index) => {
      const one = level[index];
      if (one === undefined) return;
      if (result.status === 'fulfilled') {
        const { object, fields, why } = result.value;
        if (why !== undefined) faults.push(faultAt(one, why));
        else
          record.set(one.key, {
            ...refOf(object),
            ...(object.metadata.uid === undefined ? {} : { uid: object.metadata.uid }),
            fields,
          });
      } else {
        faults.push(faultOfWrite(one, result.reason));
        if (isError(result.reason) && result.reason.retry) retry ??= result.reason;
      }
    });
  }
  parts.declared.setRevision(key, compiled.plugins, compiled.faults.length + faults.length === 0);
  if (!memory.written || count > 0) {
    wakeUnsettled(parts, compiled);
    wakeFollowers(parts, key);
  }
  memory.written = true;
  return { inventory: [...record.values()], faults, retry };
}

function isNewOnRecord(parts: SyncParts, { object }: Wanted, entry: SyncInventoryEntry | undefined): boolean {
  if (entry?.uid === undefined) return entry === undefined;
  return parts.storeFor(object.kind)?.get(keyOf(object)) === undefined;
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
  const key = keyOf(live);
  const why = whyNotMine(parts, sync, live, wanted);
  if (why !== undefined) {
    faults.push(faultAt(wanted, why));
    return false;
  }
  const entry = record.get(wanted.key);
  const { annotations } = live.metadata;
  const sameFiles =
    originFiles(annotations?.[ANNOTATION.origin]).join() ===
    originFiles(wanted.object.metadata.annotations?.[ANNOTATION.origin]).join();
  if (annotations?.[ANNOTATION.inputs] !== wanted.inputs || !sameFiles || entry?.uid !== live.metadata.uid) return true;
  return parts.storeFor(wanted.object.kind)?.fields(key) !== entry?.fields;
}

/** Another Plugin rendered it, and no longer does. What that has set stays until it is set anew; its labels must not. */
async function leaveParent(parts: SyncParts, client: KubeClient, object: KubeObject): Promise<void> {
  const live = parts.storeFor(object.kind)?.get(keyOf(object));
  if (live === undefined || parentKeyOf(live) === undefined) return;
  const labels = { [LABEL.plugin]: null, [LABEL.pluginNamespace]: null };
  const { uid } = live.metadata;
  const body = { metadata: { ...(uid === undefined ? {} : { uid }), labels } };
  await client.patch(refOf(object), body, { type: 'merge', fieldManager: SYNC_MANAGER });
}

function whyNotMine(parts: SyncParts, sync: Sync, live: Stored | undefined, wanted: Wanted): string | undefined {
  if (live === undefined) return undefined;
  return whyNotOurs(live, wanted, sync, (owner) => parts.declared.declares(owner, wanted.key) === 'no');
}

/** What the API server says about the one object. Everything else is trouble of the moment, and concerns them all. */
const ABOUT_THE_OBJECT = [
  'KubeInvalid',
  'KubeForbidden',
  'KubeNotFound',
  'KubeKindUnknown',
  'KubeAlreadyExists',
] as const;

function faultOfWrite(wanted: Wanted, error: unknown): SyncFault {
  if (!isError(error, ...ABOUT_THE_OBJECT)) throw error;
  return faultAt(wanted, messageOf(error));
}

/** Where a person looks for what is wrong with an object: the first file that it is made of. */
export function faultAt({ object }: Wanted, message: string): SyncFault {
  const [file = ''] = originFiles(object.metadata.annotations?.[ANNOTATION.origin]);
  return { file, message, object: `${object.kind} ${object.metadata.name}` };
}

/** Plugins that the Sync did not write, with a folder of its repository: what that holds now, they look up themselves. */
function wakeFollowers(parts: SyncParts, key: string): void {
  for (const plugin of parts.plugins.values()) {
    if (!followsRepository(plugin)) continue;
    const root = rootOf(plugin, (one) => parts.plugins.get(one));
    if (root !== undefined && factsKeyOf(root) === key) parts.wakePlugin(keyOf(plugin));
  }
}

/** Those that wait to hear what the revision declares. What was written wakes by itself. */
function wakeUnsettled(parts: SyncParts, compiled: Compiled): void {
  for (const key of compiled.plugins) if (parts.plugins.get(key)?.status?.phase !== 'Ready') parts.wakePlugin(key);
}
