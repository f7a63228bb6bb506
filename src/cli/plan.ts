import { Command } from 'commander';
import type { Plan } from '../plan/whole.ts';
import { inCluster } from './cluster.ts';
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

/** `espalier plan`: exit 0 when it could be planned; with --detailed-exitcode 2 when something would change, 1 on failure. */
export function planCommand(): Command {
  return common(new Command('plan').description('show what a folder or a Git ref would change in the cluster'))
    .option('--detailed-exitcode', 'exit 2 when something would change')
    .action(async (source: string, flags: Flags) => {
      const plan = await makePlan(source, flags).catch((error: unknown) =>
        fail(error, flags.detailedExitcode === true ? 1 : ExitCode.failed),
      );
      await show(plan, flags);
      const { hasChanges } = await import('../plan/whole.ts');
      if (flags.detailedExitcode === true && hasChanges(plan)) throw new ExitCode(2);
      if (plan.faults.length > 0) throw new ExitCode(1);
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
    .option('--plugin <name...>', 'only these Plugins')
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
