import { Command } from 'commander';
import { EspalierError } from '../api/errors.ts';
import type { Sync } from '../api/index.ts';
import { inCluster } from './cluster.ts';
import { findTarget } from './find.ts';
import { type ClusterOptions, withCluster, withColor } from './options.ts';
import { say } from './print.ts';
import { isSync } from './standing.ts';
import { parseTargets, shown } from './target.ts';

interface InstallOptions extends ClusterOptions {
  namespace?: string;
  url: string;
  dryRun?: true;
}

const EXAMPLES = `
<url> is where the forge reaches the agent from outside (docs/http.md); the webhook leads to <url>/hooks/<namespace>/<sync>.
It is signed with the key webhookSecret of the Secret that spec.forge of the Sync names; where that has none, one is made.

Examples:
  espalier webhook install platform --url https://espalier.example.com --dry-run
  espalier webhook install platform --url https://espalier.example.com`;

/** `espalier webhook install`: have the forge tell the agent of pushes and pull requests. */
export function webhookCommand(): Command {
  const command = new Command('webhook').description('have the forge tell the agent of pushes and pull requests');
  const install = new Command('install')
    .description('make the webhook on the forge, or change the one that leads to the same address')
    .argument('<sync...>', 'sync/<name> (also: <name>)')
    .requiredOption('--url <url>', 'address of the agent, as the forge reaches it')
    .option('-n, --namespace <name>', 'namespace (default: that of the context)')
    .option('--dry-run', 'say what would be done, and ask the forge nothing')
    .addHelpText('after', EXAMPLES);
  command.addCommand(withColor(withCluster(install)).action(run));
  return command;
}

async function run(words: string[], options: InstallOptions): Promise<void> {
  const { agentUrl } = await import('./webhook-url.ts');
  const url = agentUrl(options.url);
  if (url.protocol === 'http:')
    say(`Warning: ${url.href} is plain http: whoever is on the way can read which commits are pushed; use https`);
  const [target, ...others] = parseTargets(words);
  if (target === undefined || others.length > 0 || target.kind === 'Plugin')
    throw new EspalierError('InvalidConfiguration', 'name one Sync: webhooks are about repositories', { retry: false });
  await inCluster(options, async (cluster) => {
    const sync = await findTarget(cluster, { ...target, kind: 'Sync' });
    const { installWebhook } = await import('./install-webhook.ts');
    await installWebhook(cluster.client, asSync(sync), url, options.dryRun === true);
  });
}

function asSync(object: Parameters<typeof isSync>[0]): Sync {
  if (isSync(object)) return object;
  throw new EspalierError('Internal', `${shown({ kind: object.kind, name: object.metadata.name })} is no Sync`);
}
