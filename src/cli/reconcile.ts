import { Command } from 'commander';
import { EspalierError } from '../api/errors.ts';
import { ANNOTATION } from '../api/names.ts';
import { refOf } from '../api/objects.ts';
import { CLI_MANAGER, type Cluster, inCluster } from './cluster.ts';
import { ExitCode } from './exit.ts';
import { findTarget } from './find.ts';
import { type ClusterOptions, withCluster, withColor } from './options.ts';
import { print, say } from './print.ts';
import { isSync, type Ours } from './standing.ts';
import { parseTargets, shown } from './target.ts';

interface ReconcileOptions extends ClusterOptions {
  namespace?: string;
  wait: boolean;
  timeout: string;
}

const EXAMPLES = `
Examples:
  espalier reconcile sync platform            fetch from Git now, and wait until all of it is ready
  espalier reconcile plugin/web plugin/dns    look at these two now
  espalier reconcile sync/platform --no-wait

Exit code: 0 ready, 1 not ready (failed, held, or not within --timeout), 2 could not ask.`;

export function reconcileCommand(): Command {
  const command = new Command('reconcile')
    .description('make the agent look now: at Git for a Sync, at the cluster for a Plugin')
    .argument('<target...>', 'sync/<name>, plugin/<name>, or a kind and names')
    .option('-n, --namespace <name>', 'namespace (default: that of the context)')
    .option('--no-wait', 'ask, and do not wait until it is ready')
    .option('--timeout <duration>', 'how long to wait', '5m')
    .addHelpText('after', EXAMPLES);
  return withColor(withCluster(command)).action(reconcile);
}

async function reconcile(words: string[], options: ReconcileOptions): Promise<void> {
  const targets = parseTargets(words);
  const { parseDuration } = await import('../api/duration.ts');
  const timeoutMs = parseDuration(options.timeout);
  await inCluster(options, async (cluster) => {
    const objects = await Promise.all(targets.map((target) => findTarget(cluster, target)));
    for (const object of objects) refuseSuspended(object);
    const asked = await Promise.all(objects.map((object) => ask(cluster, object)));
    if (!options.wait) return;
    const { awaitReady } = await import('./await-ready.ts');
    const results = await Promise.all(
      asked.map(({ object, request }) => awaitReady(cluster, object, { request, timeoutMs, timeout: options.timeout })),
    );
    for (const { ready, text } of results) (ready ? print : say)(text);
    if (results.some(({ ready }) => !ready)) throw new ExitCode(1);
  });
}

/** Nothing would answer, and a person would wait for nothing. */
function refuseSuspended(object: Ours): void {
  if (object.spec.suspend !== true) return;
  const name = shown({ kind: object.kind, name: object.metadata.name });
  const command = `espalier resume ${name} -n ${object.metadata.namespace}`;
  throw new EspalierError('CommandRefused', `${name} is suspended, so nothing would happen; first: ${command}`);
}

async function ask({ client }: Cluster, object: Ours): Promise<{ object: Ours; request: string }> {
  const request = new Date().toISOString();
  const body = { metadata: { annotations: { [ANNOTATION.reconcileAt]: request } } };
  await client.patch(refOf(object), body, { type: 'merge', fieldManager: CLI_MANAGER });
  const what = isSync(object) ? 'to fetch from Git and apply what is new' : 'to look at it';
  say(`${shown({ kind: object.kind, name: object.metadata.name })}: asked the agent ${what}`);
  return { object, request };
}
