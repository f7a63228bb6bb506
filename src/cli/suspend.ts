import { Command } from 'commander';
import { EspalierError } from '../api/errors.ts';
import { ANNOTATION, LABEL, SYNC_MANAGER } from '../api/names.ts';
import { describeRef, refOf } from '../api/objects.ts';
import { CLI_MANAGER, type Cluster, inCluster } from './cluster.ts';
import { findTarget } from './find.ts';
import { type ClusterOptions, withCluster, withColor } from './options.ts';
import { print, say } from './print.ts';
import { isSync, type Ours, shortCommit } from './standing.ts';
import { parseTargets, shown } from './target.ts';

interface SuspendOptions extends ClusterOptions {
  namespace?: string;
}

/** `espalier suspend`: leave things as they are until `resume`. */
export function suspendCommand(): Command {
  return common('suspend', 'stop following a Sync or Plugin: nothing of it is applied, repaired or removed', true);
}

export function resumeCommand(): Command {
  return common('resume', 'follow a suspended Sync or Plugin again', false);
}

function common(name: 'suspend' | 'resume', description: string, suspend: boolean): Command {
  const command = new Command(name)
    .description(description)
    .argument('<target...>', 'sync/<name>, plugin/<name>, or a kind and names')
    .option('-n, --namespace <name>', 'namespace (default: that of the context)')
    .addHelpText(
      'after',
      `\nExamples:\n  espalier ${name} sync platform\n  espalier ${name} plugin/web plugin/dns -n espalier-system`,
    );
  return withColor(withCluster(command)).action((words: string[], options: SuspendOptions) =>
    setSuspend(words, options, suspend),
  );
}

async function setSuspend(words: string[], options: SuspendOptions, suspend: boolean): Promise<void> {
  const targets = parseTargets(words);
  await inCluster(options, async (cluster) => {
    const objects = await Promise.all(targets.map((target) => findTarget(cluster, target)));
    for (const object of objects) refuseDeclared(object);
    for (const object of objects) await writeSuspend(cluster, object, suspend);
  });
}

/**
 * A Sync restores fields that it declares and nothing else. Where Git says nothing about `suspend`, a person's word
 * holds; where Git does, it would be undone within a second.
 */
export function refuseDeclared(object: Ours): void {
  const entry = object.metadata.managedFields?.find(
    ({ manager, operation }) => manager === SYNC_MANAGER && operation === 'Apply',
  );
  const spec = entry?.fieldsV1?.['f:spec'];
  if (typeof spec !== 'object' || spec === null || !('f:suspend' in spec)) return;
  const origin = object.metadata.annotations?.[ANNOTATION.origin];
  const where = origin === undefined ? 'the repository' : origin;
  throw new EspalierError(
    'CommandRefused',
    `${describeRef(refOf(object))} is declared with spec.suspend in ${where}, and Sync ${object.metadata.labels?.[LABEL.sync]} would put that back: change it there`,
  );
}

/** Says what it does; nothing is written where it is so already. */
export async function writeSuspend({ client }: Cluster, object: Ours, suspend: boolean): Promise<void> {
  const name = shown({ kind: object.kind, name: object.metadata.name });
  const done = suspend ? 'suspended' : 'resumed';
  if ((object.spec.suspend === true) === suspend) {
    print(`${name} ${suspend ? 'is suspended already' : 'is not suspended'}`);
    return;
  }
  await client.patch(refOf(object), { spec: { suspend } }, { type: 'merge', fieldManager: CLI_MANAGER });
  print(`${name} ${done}`);
  say(suspend ? afterSuspend(object, name) : afterResume(object, name));
}

function afterSuspend(object: Ours, name: string): string {
  const back = `Undo: espalier resume ${name} -n ${object.metadata.namespace}`;
  if (!isSync(object)) return `Its objects stay as they are: nothing is applied, repaired or removed. ${back}`;
  return `Nothing new is taken from Git. Its Plugins go on, and drift of theirs is still repaired; to stop that, suspend them. ${back}`;
}

function afterResume(object: Ours, name: string): string {
  const follow = `Follow it: espalier reconcile ${name} -n ${object.metadata.namespace}`;
  if (isSync(object)) {
    const { commit } = object.status ?? {};
    const since = commit === undefined ? '' : ` since ${shortCommit(commit)}`;
    return `The agent now fetches ${object.spec.repository.url} and applies what changed there${since}. ${follow}`;
  }
  const drift = { repair: 'is put back', report: 'is reported', ignore: 'stays' }[object.spec.drift?.mode ?? 'repair'];
  return `The agent now applies what Git declares for it; what was changed by hand meanwhile ${drift}. ${follow}`;
}
