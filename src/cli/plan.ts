import { Command } from 'commander';
import { EspalierError, messageOf } from '../api/errors.ts';
import type { Plan } from '../plan/whole.ts';
import { inCluster } from './cluster.ts';
import { addName } from './collect.ts';
import { ExitCode } from './exit.ts';
import { type ClusterOptions, type OutputOptions, withCluster, withOutput } from './options.ts';
import { say } from './print.ts';
import { type PlanFormat, printPlan } from './print-plan.ts';

interface Flags extends ClusterOptions, Omit<OutputOptions, 'output'> {
  namespace?: string;
  sync?: string;
  ref?: string;
  path?: string;
  pr?: number;
  fork?: true;
  plugin?: string[];
  full?: true;
  detailedExitcode?: true;
  output?: PlanFormat;
}

const ABOUT = `
<source> is a folder, or the URL of a Git repository. Values, labels, the account and the path come from the Sync that
follows the repository: the only one in the namespace, or the one that --sync names. With --pr it is a pull request of
the Sync's own repository, planned as the agent does it for its comment. Nothing is written to the cluster.`;

/** As Terraform has them: pipelines know these. */
const DETAILED = { failed: 1, changes: 2 } as const;

/** `espalier plan`: 0 when all of it could be planned, 1 when there are faults; see `--detailed-exitcode` for more. */
export function planCommand(): Command {
  return common(
    new Command('plan').description('show what a folder, a Git ref or a pull request would change in the cluster'),
  )
    .option('--detailed-exitcode', '0 nothing would change, 2 something would, 1 faults or failure')
    .action(async (source: string | undefined, flags: Flags) => {
      const { plan, footer } = await makePlan(source, flags).catch((error: unknown) => {
        if (flags.detailedExitcode === true) return fail(error, DETAILED.failed);
        throw error;
      });
      await printPlan(plan, flags, footer);
      if (plan.faults.length > 0) throw new ExitCode(DETAILED.failed);
      const { hasChanges } = await import('../plan/whole.ts');
      if (flags.detailedExitcode === true && hasChanges(plan)) throw new ExitCode(DETAILED.changes);
    });
}

/** `espalier diff`: 0 nothing would change, 1 something would, more when it failed; as `kubectl diff`. */
export function diffCommand(): Command {
  return common(new Command('diff').description('like plan, with the exit codes of kubectl diff')).action(
    async (source: string | undefined, flags: Flags) => {
      const { plan, footer } = await makePlan(source, flags);
      const { hasChanges } = await import('../plan/whole.ts');
      if (!hasChanges(plan)) return;
      await printPlan(plan, flags, footer);
      throw new ExitCode(plan.faults.length > 0 ? ExitCode.failed : 1);
    },
  );
}

function common(command: Command): Command {
  return withOutput(withCluster(command), ['text', 'json', 'markdown'])
    .argument('[source]', 'folder or Git URL (default: ".")')
    .option('-n, --namespace <name>', 'namespace of the Sync (default: that of the context)')
    .option('--sync <name>', 'the Sync whose settings apply')
    .option('--ref <ref>', 'branch, tag or commit of a Git URL (default: what the Sync follows)')
    .option('--path <path>', 'folder in the source that holds the declarations (default: that of the Sync)')
    .option('--pr <number>', "a pull request of the Sync's repository, instead of a source", pullNumber)
    .option('--fork', 'with --pr: I have read it, plan it although it comes from another repository')
    .option('--plugin <name>', 'only this Plugin; repeatable', addName)
    .option('--full', 'show unchanged objects too, and long texts whole')
    .addHelpText('after', ABOUT);
}

interface Made {
  plan: Plan;
  /** Paragraphs for the end of a comment. */
  footer: string[];
}

async function makePlan(source: string | undefined, flags: Flags): Promise<Made> {
  const { pr: number } = flags;
  if (number === undefined && flags.fork !== undefined)
    throw wrong('--fork is about a pull request: say which with --pr');
  if (number !== undefined) refuseBeside(source, flags);
  return await inCluster(flags, async ({ client, namespace }) => {
    if (number !== undefined) {
      const { planPullRequest } = await import('./plan-pull.ts');
      return await planPullRequest({ client, namespace, number, flags, progress: say });
    }
    const { planSource } = await import('./plan-source.ts');
    return { plan: await planSource({ client, namespace, source: source ?? '.', flags, progress: say }), footer: [] };
  });
}

/** A pull request has its own head, and the merge would be read where the Sync reads it. */
function refuseBeside(source: string | undefined, { ref, path }: Flags): void {
  if (source !== undefined) throw wrong(`give a source or --pr, not both: what would "${source}" have to do with it?`);
  if (ref !== undefined) throw wrong('--ref is for a Git URL; with --pr the head is that of the pull request');
  if (path !== undefined) throw wrong('--path is for a source; with --pr the path is that of the Sync');
}

function pullNumber(text: string): number {
  const number = /^#?([1-9]\d{0,8})$/.exec(text)?.[1];
  if (number === undefined) throw wrong(`--pr: "${text}" is no number of a pull request, such as 12`);
  return Number(number);
}

function wrong(message: string): EspalierError {
  return new EspalierError('InvalidConfiguration', message, { retry: false });
}

async function fail(error: unknown, code: number): Promise<never> {
  say(`espalier: ${messageOf(error)}`);
  throw new ExitCode(code);
}
