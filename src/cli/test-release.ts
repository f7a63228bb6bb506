import { Command } from 'commander';
import { parseDuration } from '../api/duration.ts';
import { inCluster } from './cluster.ts';
import { ExitCode } from './exit.ts';
import { type ClusterOptions, withCluster, withColor } from './options.ts';
import { print, say } from './print.ts';
import { findPlugin, mustBeRelease } from './release-of.ts';
import { runHelm, whyHelmFailed } from './run-helm.ts';
import { shown } from './target.ts';

interface TestOptions extends ClusterOptions {
  namespace?: string;
  timeout: string;
}

const EXAMPLES = `
Examples:
  espalier test cert-manager -n espalier-system`;

export function testCommand(): Command {
  const command = new Command('test')
    .description('run the tests of the chart of a Plugin of kind helm')
    .argument('<plugin>', 'plugin/<name>, or <name>')
    .option('-n, --namespace <name>', 'namespace (default: that of the context)')
    .option('--timeout <duration>', 'how long each test may take', '5m')
    .addHelpText('after', EXAMPLES);
  return withColor(withCluster(command)).action(testRelease);
}

/** Exit 0: all passed, or there is none. 1: one failed. */
async function testRelease(word: string, options: TestOptions): Promise<void> {
  const timeoutMs = parseDuration(options.timeout);
  const failed = await inCluster(options, async (cluster) => {
    const plugin = await findPlugin(cluster, [word]);
    const place = mustBeRelease(plugin, 'test');
    const { code, stdout, stderr } = await runHelm(['test', place.name], place, options, timeoutMs);
    const name = shown({ kind: 'Plugin', name: plugin.metadata.name });
    const suites = suitesOf(stdout);
    for (const { suite, phase } of suites) print(`${suite}: ${phase}`);
    if (code !== 0) say(`the tests of ${name} failed: ${whyHelmFailed(stderr)}`);
    else if (suites.length === 0) say(`the chart of ${name} has no tests`);
    else say(`the tests of ${name} passed`);
    return code !== 0;
  });
  if (failed) throw new ExitCode(1);
}

/** Of what `helm test` prints: `TEST SUITE:     works`, and some lines further down `Phase:          Succeeded`. */
export function suitesOf(text: string): { suite: string; phase: string }[] {
  const found = [...text.matchAll(/^TEST SUITE:\s+(\S+)(?:\n(?!TEST SUITE:).*)*?\nPhase:\s+(\S+)/gm)];
  return found.map(([, suite = '', phase = '']) => ({ suite, phase })).filter(({ suite }) => suite !== 'None');
}
