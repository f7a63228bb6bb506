import { Command, CommanderError } from 'commander';
import { isError, messageOf } from '../api/errors.ts';
import { COMMANDS } from './commands.ts';
import { ExitCode } from './exit.ts';
import { VERSION_TEXT } from './version.ts';

const EXAMPLES = `
Examples:
  espalier plan ./my-repo             what would change in the cluster of the current context
  espalier plan --pr 12               what merging a pull request would change in it
  espalier tree -A                    Syncs, their Plugins and objects, with health
  espalier reconcile sync platform    look at Git now
  espalier playground                 a real control plane on this machine, to try things out

Docs: docs/ in the repository. Report of a failed command: run it again with --verbose.`;

/** Runs one command line and returns its exit code. Loads the code of the named command only, so that --help is instant. */
export async function runCli(argv: readonly string[]): Promise<number> {
  const program = new Command('espalier')
    .description('Trains a Kubernetes cluster to the shape that Git declares.')
    .version(VERSION_TEXT, '-V, --version')
    .showHelpAfterError('(run with --help for usage)')
    .showSuggestionAfterError()
    // What stands behind a command is that command's: some have a --version of their own.
    .enablePositionalOptions()
    .addHelpText('after', EXAMPLES)
    .exitOverride();
  const [first, second] = argv.filter((word) => !word.startsWith('-'));
  const named = first === 'help' ? second : first;
  for (const entry of COMMANDS) {
    if (entry.name === named) program.addCommand(exitOverridden(await entry.load()));
    else program.command(entry.name).description(entry.summary).allowUnknownOption();
  }
  try {
    if (argv.length === 0) {
      program.outputHelp();
      return 0;
    }
    await program.parseAsync([...argv], { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    return report(error, argv.includes('--verbose'));
  }
}

function report(error: unknown, verbose: boolean): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : ExitCode.usage;
  if (error instanceof ExitCode) return error.code;
  process.stderr.write(`espalier: ${messageOf(error)}\n`);
  if (verbose && error instanceof Error) process.stderr.write(`${error.stack ?? ''}\n${causes(error)}`);
  return isError(error, 'InvalidDeclaration', 'InvalidConfiguration') ? ExitCode.usage : ExitCode.failed;
}

function causes(error: Error): string {
  const { cause } = error;
  return cause instanceof Error ? `caused by: ${cause.stack ?? cause.message}\n${causes(cause)}` : '';
}

function exitOverridden(command: Command): Command {
  for (const child of command.commands) exitOverridden(child);
  return command.exitOverride().showHelpAfterError('(run with --help for usage)');
}
