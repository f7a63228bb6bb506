import { isError, type KubeObject, LABEL, type Plugin, readAs, SYNC_MANAGER, type Sync } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { managerFor } from '../plan/manager.ts';
import { asAccount } from './account.ts';
import { whyNotOurs, withCommit } from './claim.ts';
import type { Facts } from './facts.ts';
import type { Standing } from './render-revision.ts';
import type { Wanted } from './wanted.ts';
import { faultAt } from './write-revision.ts';

const COMMIT = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

export interface StandingInput {
  client: KubeClient;
  sync: Sync;
  /** Anything but an object id (a folder) pins no Plugin. */
  commit: string;
  /** Whether a Plugin in the cluster is nested in one of the same Sync. */
  isNestedHere(live: Plugin): boolean;
}

/**
 * A Plugin as it would be once the Sync has written it, tried by the API server: what others set in it, such as
 * `suspend`, stays, and what can't be written is a fault. Nothing is written.
 */
export async function standingInCluster(
  input: StandingInput,
  wanted: Wanted,
  live: Plugin | undefined,
): Promise<Standing> {
  const { client, sync, commit } = input;
  const taken = live === undefined ? undefined : await whyTaken(input, wanted, live);
  if (taken !== undefined) {
    const { file, message, object } = faultAt(wanted, taken);
    return { fault: `${object}: ${message}`, file };
  }
  const object = COMMIT.test(commit) ? withCommit(wanted, commit, live) : wanted.object;
  try {
    const writer = asAccount(client, accountOf(sync));
    const tried = await writer.apply(object, { fieldManager: SYNC_MANAGER, force: true, dryRun: true });
    return { plugin: readAs(tried, 'Plugin') };
  } catch (error) {
    // Its namespace does not exist. The agent will say so too; what it would install can be told even so.
    if (isError(error, 'KubeNotFound')) return { plugin: readAs(object, 'Plugin') };
    throw error;
  }
}

function accountOf({ metadata, spec }: Sync): Facts['account'] {
  const { serviceAccountName: name } = spec;
  return name === undefined ? undefined : { namespace: metadata.namespace ?? '', name };
}

/** The same for a Plugin that a Plugin renders. */
export async function standingNestedIn(
  client: KubeClient,
  object: KubeObject,
  live: Plugin | undefined,
  account: Facts['account'],
): Promise<Plugin> {
  try {
    const options = { fieldManager: managerFor(object), force: true, dryRun: true };
    return readAs(await asAccount(client, account).apply(object, options), 'Plugin');
  } catch (error) {
    if (!isError(error, 'KubeNotFound')) throw error;
    return readAs({ ...object, ...(live?.status === undefined ? {} : { status: live.status }) }, 'Plugin');
  }
}

async function whyTaken(
  { client, sync, isNestedHere }: StandingInput,
  wanted: Wanted,
  live: Plugin,
): Promise<string | undefined> {
  const labels = live.metadata.labels ?? {};
  const [name, namespace] = [labels[LABEL.sync], labels[LABEL.syncNamespace]];
  const first = whyNotOurs(live, wanted, sync, () => false);
  // Whether a Plugin of the revision goes on rendering it is seen when that is rendered.
  if (first === undefined || isNestedHere(live)) return undefined;
  if (name === undefined || namespace === undefined) return first;
  const owner = await client.get({ apiVersion: sync.apiVersion, kind: 'Sync', namespace, name });
  return owner === undefined ? undefined : first;
}
