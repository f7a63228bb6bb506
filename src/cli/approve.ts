import { Command } from 'commander';
import { EspalierError } from '../api/errors.ts';
import { ANNOTATION, API_VERSION, LABEL } from '../api/names.ts';
import { refOf } from '../api/objects.ts';
import { CLI_MANAGER, type Cluster, inCluster } from './cluster.ts';
import { findTarget } from './find.ts';
import { approvable, type Held, heldOf, resolveCommit } from './held.ts';
import { type ClusterOptions, withCluster, withColor } from './options.ts';
import { print, say } from './print.ts';
import { asOurs, isSync, type Ours } from './standing.ts';
import { parseTargets, shown } from './target.ts';

interface ApproveOptions extends ClusterOptions {
  namespace?: string;
  commit?: string;
}

const EXAMPLES = `
Examples:
  espalier approve platform                         show what is held, and how to approve it
  espalier approve platform --commit 7a2ad27f44     approve it, for that commit alone`;

export function approveCommand(): Command {
  const command = new Command('approve')
    .description('consent to removals or upgrades that are held; without --commit, show them')
    .argument('<target...>', 'sync/<name> (also: <name>), or plugin/<name>')
    .option('-n, --namespace <name>', 'namespace (default: that of the context)')
    .option('--commit <id>', 'the commit to approve, or the beginning of its id')
    .addHelpText('after', EXAMPLES);
  return withColor(withCluster(command)).action(approve);
}

async function approve(words: string[], options: ApproveOptions): Promise<void> {
  const [target, ...others] = parseTargets(words);
  if (target === undefined || others.length > 0) {
    throw new EspalierError('InvalidConfiguration', 'approve one Sync or Plugin at a time', { retry: false });
  }
  await inCluster(options, async (cluster) => {
    const object = await findTarget(cluster, target, 'Sync');
    const { held, commits } = await lookAround(cluster, object);
    const name = shown({ kind: object.kind, name: object.metadata.name });
    if (options.commit === undefined) return show(held, name);
    const commit = resolveCommit(options.commit, commits, { name, namespace: cluster.namespace });
    const body = { metadata: { annotations: { [ANNOTATION.approve]: commit } } };
    await cluster.client.patch(refOf(object), body, { type: 'merge', fieldManager: CLI_MANAGER });
    print(`${name} approved for commit ${commit}`);
    if (!held.some((one) => one.commit === commit))
      say('Nothing is held at this commit; the approval stands for what may follow from it.');
  });
}

/** What is held, and which commits may be named, by the object, its Sync and the Plugins of that. */
async function lookAround({ client }: Cluster, object: Ours): Promise<{ held: Held[]; commits: string[] }> {
  if (isSync(object)) {
    const { name, namespace = '' } = object.metadata;
    const labelSelector = `${LABEL.sync}=${name},${LABEL.syncNamespace}=${namespace}`;
    const { items } = await client.list({ apiVersion: API_VERSION, kind: 'Plugin', labelSelector });
    const held = heldOf(
      object,
      items.map(asOurs).filter((plugin) => !isSync(plugin)),
    );
    return { held, commits: approvable(object, held) };
  }
  const { [LABEL.sync]: name, [LABEL.syncNamespace]: namespace } = object.metadata.labels ?? {};
  const found =
    name === undefined || namespace === undefined
      ? undefined
      : await client.get({ apiVersion: API_VERSION, kind: 'Sync', namespace, name });
  const sync = found === undefined ? undefined : asOurs(found);
  const owner = sync !== undefined && isSync(sync) ? sync : undefined;
  const held = heldOf(object, [], owner);
  return { held, commits: approvable(object, held, owner) };
}

function show(held: readonly Held[], name: string): void {
  if (held.length === 0) say(`Nothing of ${name} is held.`);
  else print(held.map(describe).join('\n\n'));
}

function describe({ name, namespace, commit, reason, objects }: Held): string {
  const lines = [`${name} is held: ${reason}`, ...objects.map((object) => `  - ${object}`)];
  if (commit === undefined) return lines.join('\n');
  return [...lines, `Approve: espalier approve ${name} -n ${namespace} --commit ${commit}`].join('\n');
}
