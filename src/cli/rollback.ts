import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { parseDuration } from '../api/duration.ts';
import { EspalierError } from '../api/errors.ts';
import type { Plugin } from '../api/index.ts';
import { API_VERSION } from '../api/names.ts';
import type { Release } from '../release/record.ts';
import { type Cluster, inCluster } from './cluster.ts';
import { type ClusterOptions, withCluster, withColor } from './options.ts';
import { print, say } from './print.ts';
import { findPlugin, mustBeRelease, type ReleasePlace, releasesOf, wrong } from './release-of.ts';
import { runHelm, whyHelmFailed } from './run-helm.ts';
import { asOurs } from './standing.ts';
import { refuseDeclared, writeSuspend } from './suspend.ts';
import { shown } from './target.ts';

interface RollbackOptions extends ClusterOptions {
  namespace?: string;
  timeout: string;
}

/** An agent that is there answers within this time. Without one there is nobody to wait for. */
const ANSWER_MS = 10_000;

const EXAMPLES = `
Examples:
  espalier history cert-manager -n espalier-system     which revisions there are
  espalier rollback cert-manager 3 -n espalier-system`;

export function rollbackCommand(): Command {
  const command = new Command('rollback')
    .description('suspend a Plugin of kind helm, and take its release back to a revision')
    .argument('<plugin>', 'plugin/<name>, or <name>')
    .argument('<revision>', 'a revision of espalier history')
    .option('-n, --namespace <name>', 'namespace (default: that of the context)')
    .option('--timeout <duration>', 'how long each hook may take', '5m')
    .addHelpText('after', EXAMPLES);
  return withColor(withCluster(command)).action(rollback);
}

async function rollback(word: string, revisionText: string, options: RollbackOptions): Promise<void> {
  const timeoutMs = parseDuration(options.timeout);
  await inCluster(options, async (cluster) => {
    const plugin = await findPlugin(cluster, [word]);
    const place = mustBeRelease(plugin, 'rollback');
    const wanted = pick(await releasesOf(cluster, place), revisionText, place);
    refuseDeclared(plugin);
    await writeSuspend(cluster, plugin, true);
    await agentKnows(cluster, plugin);
    const { code, stdout, stderr } = await runHelm(
      ['rollback', place.name, String(wanted.version)],
      place,
      options,
      timeoutMs,
    );
    const name = shown({ kind: 'Plugin', name: plugin.metadata.name });
    const back = `espalier resume ${name} -n ${plugin.metadata.namespace}`;
    if (code !== 0) {
      const message = `helm rollback ${place.name} ${wanted.version} ended with ${code}: ${whyHelmFailed(stderr)}\n${name} stays suspended; let the agent bring it back to what Git declares: ${back}`;
      throw new EspalierError('CommandRefused', message);
    }
    if (stdout.trim() !== '') print(stdout.trim());
    say(
      `${name} is at what revision ${wanted.version} was, and stays there while it is suspended. Change its declaration in Git to match, then go on: ${back}`,
    );
  });
}

function pick(releases: readonly Release[], text: string, { name, namespace }: ReleasePlace): Release {
  const last = releases.at(-1);
  if (last === undefined) throw wrong(`there is no release ${name} in namespace ${namespace}`);
  const found = releases.find(({ version }) => String(version) === text);
  const there = releases.map(({ version, info }) => `${version} (${info.status})`).join(', ');
  if (found === undefined) throw wrong(`release ${name} has no revision ${text}; there are: ${there}`);
  if (found === last && last.info.status === 'deployed')
    throw wrong(`revision ${text} of release ${name} is what is deployed now; there are: ${there}`);
  return found;
}

/** Waits until the agent has let go: it may be in the middle of a revision. */
async function agentKnows({ client }: Cluster, { metadata }: Plugin): Promise<void> {
  const { name, namespace = '' } = metadata;
  const until = Date.now() + ANSWER_MS;
  while (Date.now() < until) {
    const live = await client.get({ apiVersion: API_VERSION, kind: 'Plugin', namespace, name });
    if (live === undefined || asOurs(live).status?.phase === 'Suspended') return;
    await delay(200);
  }
  say(`The agent has not answered for ${ANSWER_MS / 1000} s: it may not be running. Going on.`);
}
