import { homedir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { EspalierError, parseDuration } from '../api/index.ts';

interface Flags {
  kubeconfig?: string;
  context?: string;
  namespace?: string;
  onlyNamespace?: string;
  listen: string;
  pageUrl?: string;
  logLevel: string;
  concurrency: string;
  renderers: string;
  fullLook: string;
  grace: string;
  allowHttp: boolean;
  allowPrivate: boolean;
  dependenciesFrom?: string[];
}

/** A slip here would allow nothing, or less than was meant. */
function addPlace(text: string, places: readonly string[] = []): string[] {
  if (/^(https?|oci):\/\/[^/\s]+/.test(text)) return [...places, text];
  throw new EspalierError(
    'InvalidConfiguration',
    `--dependencies-from: "${text}" is no place such as https://charts.example.com or oci://registry.example.com/charts`,
  );
}

export function agentCommand(): Command {
  return new Command('agent')
    .description('run the agent, in a cluster or against a kubeconfig')
    .option(
      '--kubeconfig <path>',
      "kubeconfig file (default: the pod's service account, else KUBECONFIG, ~/.kube/config)",
    )
    .option('--context <name>', 'context of the kubeconfig to use')
    .option(
      '-n, --namespace <name>',
      "the agent's own namespace, for its Lease (default: POD_NAMESPACE, else espalier-system)",
    )
    .option('--only-namespace <name>', 'look after the Syncs and Plugins of this namespace alone')
    .option('--listen <address>', 'host:port for webhooks, metrics and health; "off" for none', '0.0.0.0:8080')
    .option('--page-url <url>', 'address under which people reach this agent: commit statuses link there')
    .option('--log-level <level>', 'trace, debug, info, warn, error or silent', 'info')
    .option('--concurrency <n>', 'Plugins that are worked on at once', '64')
    .option('--renderers <n>', 'child processes that render at once', '4')
    .option(
      '--full-look <duration>',
      'how often everything is compared with the cluster, whatever the watches say',
      '6h',
    )
    .option('--grace <duration>', 'time for work under way when the agent is told to stop', '20s')
    .option('--allow-http', 'allow repositories on plain http', false)
    .option('--allow-private', 'allow repositories on private and loopback addresses', false)
    .option(
      '--dependencies-from <url>',
      'where charts in Git may take their dependencies from, with all below; repeatable (default: anywhere that is not inside)',
      addPlace,
    )
    .option('--verbose', 'show the whole error when something fails')
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const { createLog, startAgent } = await import('./start-agent.ts');
  const log = createLog(flags.logLevel);
  const stop = new AbortController();
  let asked = 0;
  const onSignal = (name: NodeJS.Signals): void => {
    asked += 1;
    if (asked > 1) process.exit(1);
    log.info({ signal: name }, 'stopping');
    stop.abort(new EspalierError('Aborted', `${name}: the agent stops`));
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  const agent = await startAgent({
    ...(flags.kubeconfig === undefined ? {} : { kubeconfig: flags.kubeconfig }),
    ...(flags.context === undefined ? {} : { context: flags.context }),
    namespace: flags.namespace ?? process.env.POD_NAMESPACE ?? 'espalier-system',
    onlyNamespace: flags.onlyNamespace,
    cacheDir: cacheDir(),
    http: listenAddress(flags.listen),
    urlPolicy: { http: flags.allowHttp, privateAddresses: flags.allowPrivate },
    ...(flags.dependenciesFrom === undefined ? {} : { dependenciesFrom: flags.dependenciesFrom }),
    pageUrl: pageAddress(flags.pageUrl),
    concurrency: wholeNumber('--concurrency', flags.concurrency),
    renderers: wholeNumber('--renderers', flags.renderers),
    fullLookEveryMs: parseDuration(flags.fullLook),
    graceMs: parseDuration(flags.grace),
    log,
    signal: stop.signal,
  });
  log.info({ url: agent.url ?? null }, 'started');
  await agent.ended;
  process.off('SIGTERM', onSignal);
  process.off('SIGINT', onSignal);
}

function cacheDir(): string {
  const base =
    process.env.ESPALIER_CACHE_DIR ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'espalier');
  return join(base, 'agent');
}

function listenAddress(text: string): { host: string; port: number } | undefined {
  if (text === 'off') return undefined;
  const match = /^(.*):(\d{1,5})$/.exec(text);
  if (match === null || Number(match[2]) > 65_535) {
    throw new EspalierError('InvalidConfiguration', `--listen "${text}" is no host:port such as 0.0.0.0:8080`, {
      retry: false,
    });
  }
  return { host: match[1] === '' ? '0.0.0.0' : (match[1] ?? ''), port: Number(match[2]) };
}

function pageAddress(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '') {
    throw new EspalierError(
      'InvalidConfiguration',
      `--page-url "${text}" is no address such as https://espalier.example.com`,
      {
        retry: false,
      },
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

function wholeNumber(flag: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 1000) {
    throw new EspalierError('InvalidConfiguration', `${flag} "${text}" is no whole number from 1 to 1000`, {
      retry: false,
    });
  }
  return value;
}
