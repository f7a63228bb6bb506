import { Command } from 'commander';
import type { Material } from '../expansion/materials.ts';
import { plain } from '../plan/plain.ts';
import { ExitCode } from './exit.ts';
import { printFaults } from './expansion-faults.ts';
import { PACKAGE_ARGUMENT, withMembers, withRegistry } from './expansion-place.ts';
import type { WireFlags } from './mirror-tools.ts';
import { type OutputOptions, wantsColor, withOutput } from './options.ts';
import { formatData } from './output.ts';
import { painter } from './paint.ts';
import { print, say } from './print.ts';
import { Table } from './table.ts';

const HELP = `
The control plane is a real one, private to this test, without containers: hooks and the operator are admitted and
scheduled, but their programs don't run. Conditions that are left to the operator are made true in its place.

Exit code: 0 all of it came up and went again, 1 something did not.

Example:
  espalier expansion test demo --keep      look around with kubectl afterwards`;

interface Flags extends OutputOptions, WireFlags {
  output?: 'json' | 'yaml';
  timeout: string;
  keep?: true;
}

const COLOURS = { ok: 'green', failed: 'red', noted: 'dim' } as const;
/** As a shell reports a program that Ctrl-C ended. */
const INTERRUPTED = 130;

export function expansionTestCommand(): Command {
  return withOutput(withRegistry(new Command('test')), ['json', 'yaml'])
    .description('install a package on a private control plane and tell what became of every material')
    .argument('<package>', PACKAGE_ARGUMENT)
    .option('--timeout <duration>', 'how long the package as a whole may take to come up, and to go', '5m')
    .option('--keep', 'leave it installed and running until Ctrl-C')
    .addHelpText('after', HELP)
    .action(test);
}

async function test(location: string, flags: Flags): Promise<void> {
  const [{ parseDuration }, { checkPackage }, { stopSignals }, { tryPackage }, { watched }] = await Promise.all([
    import('../api/duration.ts'),
    import('../expansion/examine.ts'),
    import('../playground/stopsignals.ts'),
    import('./expansion-trial.ts'),
    import('./expansion-progress.ts'),
  ]);
  const timeoutMs = parseDuration(flags.timeout);
  const stop = stopSignals((name) => say(`\n${name}: ending what was started; once more exits at once`));
  try {
    await withMembers(location, flags, async (members) => {
      const read = watched(members(), stop.signal, () => undefined);
      const { faults, expansion } = await checkPackage(location, { members: read });
      if (faults.length > 0) {
        if (flags.output === undefined) printFaults(location, faults);
        else print(await formatData({ materials: [], faults }, flags.output));
        throw new ExitCode(1);
      }
      const trial = await tryPackage({ location, expansion, members, timeoutMs, signal: stop.signal });
      try {
        await report(trial.materials, flags);
        if (flags.keep === true) {
          say(`\nIt is left as it is until Ctrl-C. Look around with:\n  export KUBECONFIG=${trial.kubeconfig}`);
          await stop.asked;
        }
        const left = flags.keep === true ? [] : await trial.remove();
        for (const one of left) say(`left behind after its removal: ${one}`);
        const failures = trial.materials.filter(({ outcome }) => outcome === 'failed').length;
        if (failures + left.length > 0) throw new ExitCode(1);
        if (flags.keep !== true) say('removed again, and nothing is left of it');
      } finally {
        await trial.stop();
      }
    });
  } catch (error) {
    if (stop.signal.aborted && !(error instanceof ExitCode)) throw new ExitCode(INTERRUPTED);
    throw error;
  } finally {
    stop.forget();
  }
}

async function report(materials: readonly Material[], flags: Flags): Promise<void> {
  if (flags.output !== undefined) return print(await formatData({ materials }, flags.output));
  const table = new Table({ paint: painter(wantsColor(flags)) });
  const rows = materials.map(({ kind, name, outcome, says }) => [
    { text: outcome, colour: COLOURS[outcome] },
    { text: kind },
    { text: plain(name) },
    { text: plain(says) },
  ]);
  for (const line of table.lines(rows)) print(line);
  if (rows.length === 0) say('the package holds no materials');
}
