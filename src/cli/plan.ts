import { Command } from 'commander';
import type { Plan } from '../plan/whole.ts';
import { inCluster } from './cluster.ts';
import { addName } from './collect.ts';
import { ExitCode } from './exit.ts';
import { type ClusterOptions, type OutputOptions, wantsColor, withCluster, withOutput } from './options.ts';
import { print, say } from './print.ts';

interface Flags extends ClusterOptions, Omit<OutputOptions, 'output'> {
  namespace?: string;
  sync?: string;
  ref?: string;
  path?: string;
  plugin?: string[];
  full?: true;
  detailedExitcode?: true;
  output?: 'text' | 'json' | 'markdown';
}

const ABOUT = `
<source> is a folder, or the URL of a Git repository. Values, labels, the account and the path come from the Sync that
follows the repository: the only one in the namespace, or the one that --sync names. Nothing is written to the cluster.`;

/** As Terraform has them: pipelines know these. */
const DETAILED = { failed: 1, changes: 2 } as const;

/** `espalier plan`: 0 when all of it could be planned, 1 when there are faults; see `--detailed-exitcode` for more. */
export function planCommand(): Command {
  return common(new Command('plan').description('show what a folder or a Git ref would change in the cluster'))
    .option('--detailed-exitcode', '0 nothing would change, 2 something would, 1 faults or failure')
    .action(async (source: string, flags: Flags) => {
      const plan = await makePlan(source, flags).catch((error: unknown) => {
        if (flags.detailedExitcode === true) return fail(error, DETAILED.failed);
        throw error;
      });
      await show(plan, flags);
      if (plan.faults.length > 0) throw new ExitCode(DETAILED.failed);
      const { hasChanges } = await import('../plan/whole.ts');
      if (flags.detailedExitcode === true && hasChanges(plan)) throw new ExitCode(DETAILED.changes);
    });
}

/** `espalier diff`: 0 nothing would change, 1 something would, more when it failed; as `kubectl diff`. */
export function diffCommand(): Command {
  return common(new Command('diff').description('like plan, with the exit codes of kubectl diff')).action(
    async (source: string, flags: Flags) => {
      const plan = await makePlan(source, flags);
      const { hasChanges } = await import('../plan/whole.ts');
      if (!hasChanges(plan)) return;
      await show(plan, flags);
      throw new ExitCode(plan.faults.length > 0 ? ExitCode.failed : 1);
    },
  );
}

function common(command: Command): Command {
  return withOutput(withCluster(command), ['text', 'json', 'markdown'])
    .argument('[source]', 'folder or Git URL', '.')
    .option('-n, --namespace <name>', 'namespace of the Sync (default: that of the context)')
    .option('--sync <name>', 'the Sync whose settings apply')
    .option('--ref <ref>', 'branch, tag or commit of a Git URL (default: what the Sync follows)')
    .option('--path <path>', 'folder in the source that holds the declarations (default: that of the Sync)')
    .option('--plugin <name>', 'only this Plugin; repeatable', addName)
    .option('--full', 'show unchanged objects too, and long texts whole')
    .addHelpText('after', ABOUT);
}

async function makePlan(source: string, flags: Flags): Promise<Plan> {
  return await inCluster(flags, async ({ client, namespace }) => {
    const { planSource } = await import('./plan-source.ts');
    return await planSource({ client, namespace, source, flags, progress: say });
  });
}

async function show(plan: Plan, flags: Flags): Promise<void> {
  if (flags.output === 'json') {
    const { planDocument } = await import('../plan/json-form.ts');
    print(JSON.stringify(planDocument(plan), null, 2));
  } else if (flags.output === 'markdown') {
    const { planMarkdown } = await import('../plan/markdown.ts');
    print(planMarkdown(plan));
  } else {
    const { planText } = await import('../plan/text.ts');
    print(planText(plan, { color: wantsColor(flags), full: flags.full === true }).trimEnd());
  }
}

async function fail(error: unknown, code: number): Promise<never> {
  const { messageOf } = await import('../api/errors.ts');
  say(`espalier: ${messageOf(error)}`);
  throw new ExitCode(code);
}
