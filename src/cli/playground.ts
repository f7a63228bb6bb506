import { resolve } from 'node:path';
import { Command } from 'commander';
import { EspalierError } from '../api/index.ts';
import type { AgentFactory } from '../playground/agentseam.ts';
import type { PlaygroundForge } from '../playground/forge/serve.ts';
import { type PlaygroundOptions, startPlayground } from '../playground/playground.ts';
import { describeForPeople, describeForScripts } from '../playground/report.ts';
import { showPlugins } from '../playground/screen.ts';
import { showSteps } from '../playground/steps.ts';
import { stopSignals } from '../playground/stopsignals.ts';
import { ExitCode } from './exit.ts';

interface Flags {
  json?: true;
  repo: string;
  agent: boolean;
  forge?: string;
  tour: boolean;
  useCluster?: true;
  kubeconfig?: string;
  context?: string;
}

/** As a shell reports a program that Ctrl-C ended. */
const INTERRUPTED = 130;
const EXAMPLE = resolve(import.meta.dirname, '..', '..', 'examples', 'repo');

/** Without a factory the playground runs without an agent. */
export function playgroundCommand(agent?: AgentFactory): Command {
  return new Command('playground')
    .description('start a private control plane, a Git server and the agent, until Ctrl-C')
    .option('--json', 'print one line of JSON on stdout when ready, for scripts')
    .option('--repo <dir>', 'folder to fill the repository from', EXAMPLE)
    .option('--no-agent', 'leave the agent out')
    .option('--forge <kind>', 'a forge instead of a plain Git server: gitea')
    .option('--no-tour', 'with a forge: open no pull request to show what the agent answers')
    .option('--use-cluster', 'use the cluster of --kubeconfig or KUBECONFIG instead of starting one')
    .option('--kubeconfig <path>', 'kubeconfig of the cluster to use')
    .option('--context <name>', 'context of the kubeconfig to use')
    .option('--verbose', 'show the whole error when something fails')
    .action((flags: Flags) => run(flags, flags.agent ? agent : undefined));
}

async function run(flags: Flags, agent: AgentFactory | undefined): Promise<void> {
  const forge = forgeOf(flags);
  const cluster = existingCluster(flags, process.env);
  const stop = stopSignals((name) =>
    process.stderr.write(`\n${name}: ending what was started; once more exits at once\n`),
  );
  const steps = showSteps(process.stderr);
  const started = Date.now();
  steps.begin('looking for the programs');
  try {
    const playground = await startPlayground({
      seed: resolve(flags.repo),
      forge,
      agent,
      signal: stop.signal,
      progress: steps.begin,
      ...(cluster && { cluster }),
    });
    steps.end();
    process.stderr.write(`ready after ${((Date.now() - started) / 1000).toFixed(1)} s\n\n`);
    const watching = new AbortController();
    if (playground.hasAgent && flags.json !== true) {
      process.stderr.write('The agent takes the repository to the cluster:\n\n');
      const { message } = await showPlugins(
        playground.client,
        process.stderr,
        AbortSignal.any([stop.signal, watching.signal]),
      );
      process.stderr.write(`\n${message}\n\n`);
    }
    const text = flags.json ? `${describeForScripts(playground, process.pid)}\n` : describeForPeople(playground);
    process.stdout.write(text);
    const { forge: served, hasAgent } = playground;
    const hasTour = hasAgent && flags.tour && flags.json !== true;
    const over = AbortSignal.any([stop.signal, watching.signal]);
    const tour = served !== null && hasTour ? takeTour(served, over) : undefined;
    const broken = await Promise.race([playground.broken, stop.asked]);
    watching.abort();
    await tour;
    await playground.stop();
    if (broken === undefined) return;
    process.stderr.write(`espalier: ${broken} ended by itself, so the playground was ended\n`);
    throw new ExitCode(ExitCode.failed);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    throw new ExitCode(INTERRUPTED);
  } finally {
    stop.forget();
  }
}

function forgeOf({ forge }: Flags): PlaygroundOptions['forge'] {
  if (forge === undefined || forge === 'gitea') return forge;
  throw invalid(
    `--forge ${forge} is not supported: the playground has gitea; without --forge it has a plain Git server`,
  );
}

async function takeTour(forge: PlaygroundForge, signal: AbortSignal): Promise<void> {
  const { runTour } = await import('../playground/forge/tour.ts');
  await runTour({ forge, signal, write: (text) => process.stderr.write(text) });
}

/** Both must be said: a kubeconfig that happens to be there is no consent to write to its cluster. */
function existingCluster(flags: Flags, env: NodeJS.ProcessEnv): PlaygroundOptions['cluster'] {
  const kubeconfig = flags.kubeconfig === undefined ? env.KUBECONFIG : resolve(flags.kubeconfig);
  if (flags.useCluster !== true) {
    if (flags.kubeconfig === undefined && flags.context === undefined) return undefined;
    throw invalid('--kubeconfig and --context need --use-cluster: the playground will write to that cluster');
  }
  if (!kubeconfig) throw invalid('--use-cluster needs to know which: give --kubeconfig or set KUBECONFIG');
  return { kubeconfig, ...(flags.context !== undefined && { context: flags.context }) };
}

function invalid(message: string): EspalierError {
  return new EspalierError('InvalidConfiguration', message, { retry: false });
}
