import { Command } from 'commander';
import { EspalierError, isError } from '../api/errors.ts';
import type { KubernetesTarget } from '../resolve/served-apis.ts';
import type { Check } from './check-model.ts';
import { inCluster } from './cluster.ts';
import { addLabel } from './collect.ts';
import { ExitCode } from './exit.ts';
import {
  type ClusterOptions,
  type OutputOptions,
  type ScopeOptions,
  wantsColor,
  withCluster,
  withOutput,
  withScope,
} from './options.ts';
import { painter } from './paint.ts';
import { print, say } from './print.ts';
import type { RenderFlags } from './render-source.ts';

interface Flags extends ClusterOptions, ScopeOptions, RenderFlags, Omit<OutputOptions, 'output'> {
  kubernetes: string;
  repository?: string;
  offline?: true;
  output?: 'table' | 'json';
}

const ABOUT = `
Before Kubernetes is upgraded: which Plugins would be removed or refused by it, which versions the instances of extensions
move to, and what uses API versions that it no longer serves, read from what everything renders to for that version.
Nothing is written to the cluster. docs/kubernetes-upgrades.md explains every code of the JSON form.

Examples:
  espalier check --kubernetes 1.37 -A
  espalier check --kubernetes 1.37 --repository . --offline --label tier=prod
  espalier check --kubernetes 1.37 -A -o json | jq '.items[] | select(.result == "blocks")'

Exit code: 0 nothing blocks the upgrade, 1 something does or could not be told, 2 failed.`;

export function checkCommand(): Command {
  return withOutput(withScope(withCluster(new Command('check'))), ['table', 'json'])
    .description('tell what an upgrade of Kubernetes would break')
    .requiredOption('--kubernetes <version>', 'the version to upgrade to, such as 1.37')
    .option('--repository <source>', 'what a folder or Git URL declares, instead of what is in the cluster')
    .option('--sync <name>', 'with --repository: the Sync whose settings apply')
    .option('--ref <ref>', 'with --repository: branch, tag or commit of a Git URL')
    .option('--path <path>', 'with --repository: folder that holds the declarations')
    .option('--cluster <name>', 'with --repository: for the cluster of this name')
    .option('--label <key=value>', 'with --repository: a label of the cluster; repeatable', addLabel)
    .option('--offline', 'with --repository: ask no cluster')
    .addHelpText('after', ABOUT)
    .action(async (flags: Flags) => show(await check(flags), flags));
}

const OF_REPOSITORY = ['sync', 'ref', 'path', 'cluster', 'label', 'offline'] as const;

async function check(flags: Flags): Promise<Check> {
  const { parseTarget } = await import('../resolve/served-apis.ts');
  const to = parseTarget(flags.kubernetes);
  if (to === undefined) throw wrong(`--kubernetes: "${flags.kubernetes}" is no version of Kubernetes, such as 1.37`);
  if (flags.repository !== undefined) return await checkDeclared(flags.repository, to, flags);
  const stray = OF_REPOSITORY.find((name) => flags[name] !== undefined);
  if (stray !== undefined) throw wrong(`--${stray} is about a repository: say which with --repository`);
  const { checkCluster } = await import('./check-source.ts');
  return await inCluster(flags, ({ client, namespace }) =>
    checkCluster(client, to, flags.allNamespaces === true ? undefined : namespace),
  );
}

async function checkDeclared(source: string, to: KubernetesTarget, flags: Flags): Promise<Check> {
  if (flags.allNamespaces === true) throw wrong('-A is about a cluster; a repository is checked whole');
  const { checkRepository } = await import('./check-source.ts');
  if (flags.offline === true) {
    const namespace = flags.namespace ?? 'espalier-system';
    return await checkRepository({ client: undefined, to, namespace, source, flags });
  }
  const checked = inCluster(flags, ({ client, namespace }) =>
    checkRepository({ client, to, namespace, source, flags }),
  );
  return await checked.catch((error: unknown) => {
    if (!isError(error, 'KubeUnreachable', 'KubeConfigInvalid')) throw error;
    throw new EspalierError(error.code, `${error.message}. Without a cluster: --offline`, { cause: error });
  });
}

async function show(checked: Check, flags: Flags): Promise<void> {
  const { checkDocument, summaryOf } = await import('./check-model.ts');
  if (flags.output === 'json') print(JSON.stringify(checkDocument(checked), null, 2));
  else {
    const { checkLines, checkSummary } = await import('./check-table.ts');
    const namespaces = flags.allNamespaces === true;
    for (const line of checkLines(checked, { paint: painter(wantsColor(flags)), namespaces })) print(line);
    for (const fault of checked.faults) say(`✗ ${fault}`);
    for (const note of checked.notes) say(`note: ${note}`);
    say(checkSummary(checked));
  }
  if (summaryOf(checked).blocks > 0 || checked.faults.length > 0) throw new ExitCode(1);
}

function wrong(message: string): EspalierError {
  return new EspalierError('InvalidConfiguration', message, { retry: false });
}
