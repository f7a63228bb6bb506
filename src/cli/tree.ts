import { Command, InvalidArgumentError } from 'commander';
import { DEEPEST_NESTING } from '../reconcile/nesting.ts';
import { inCluster } from './cluster.ts';
import { noneFound } from './none-found.ts';
import {
  type ClusterOptions,
  type OutputOptions,
  type ScopeOptions,
  wantsColor,
  withCluster,
  withOutput,
  withScope,
} from './options.ts';
import { formatData } from './output.ts';
import { painter } from './paint.ts';
import { print, say } from './print.ts';
import { treeLines } from './tree-text.ts';

interface TreeOptions extends ClusterOptions, ScopeOptions, OutputOptions {
  output?: 'json' | 'yaml';
  depth?: number;
}

/** Sync, Plugins nested in one another as deep as they may be, objects. */
const ALL_LEVELS = 3 + DEEPEST_NESTING;

const EXAMPLES = `
Examples:
  espalier tree -A                    everything
  espalier tree platform              one Sync
  espalier tree plugin/web            one Plugin and its objects
  espalier tree -A --depth 2          Syncs and Plugins only`;

export function treeCommand(): Command {
  const command = new Command('tree')
    .description(
      'show Sync → Plugins, in the order of their dependencies, and those nested in them → objects, with live health',
    )
    .argument('[name...]', 'sync/<name>, plugin/<name>, or the name of one')
    .option('--depth <n>', 'levels to show, such as 2: Syncs and Plugins without objects', parseDepth)
    .addHelpText('after', EXAMPLES);
  return withOutput(withScope(withCluster(command)), ['json', 'yaml']).action(tree);
}

async function tree(words: string[], options: TreeOptions): Promise<void> {
  await inCluster(options, async (cluster) => {
    const [{ findBranches }, { growTree }] = await Promise.all([import('./tree-find.ts'), import('./tree-grow.ts')]);
    const branches = await findBranches(cluster, words, options);
    const nodes = await growTree(cluster.client, branches, options.depth ?? ALL_LEVELS);
    if (options.output !== undefined) print(await formatData(nodes, options.output));
    else if (nodes.length > 0) print(treeLines(nodes, painter(wantsColor(options))).join('\n'));
    if (nodes.length === 0) say(await noneFound(cluster, ['Sync', 'Plugin'], options));
  });
}

function parseDepth(text: string): number {
  if (!/^[1-9]$/.test(text)) throw new InvalidArgumentError('Say a number of levels, such as 2.');
  return Number(text);
}
