import { Command } from 'commander';
import { inCluster } from './cluster.ts';
import { addLabel, addName } from './collect.ts';
import { counted } from './counted.ts';
import { ExitCode } from './exit.ts';
import { orOffline } from './image-options.ts';
import { type ClusterOptions, type OutputOptions, withCluster, withOutput } from './options.ts';
import { formatData, formatObjects } from './output.ts';
import { print, say } from './print.ts';
import type { RenderedSource, RenderFlags } from './render-source.ts';

interface Flags extends ClusterOptions, RenderFlags, Omit<OutputOptions, 'output'> {
  namespace?: string;
  offline?: true;
  output?: 'yaml' | 'json' | 'name';
}

const ABOUT = `
<source> is a folder, or the URL of a Git repository. The objects are what the agent applies: with their namespaces, labels,
patches and rewritten images. Values, labels and the path come from the Sync that follows the repository, as for plan.

With --offline no cluster is asked: settings of a Sync that is in no file (--settings) and values from ConfigMaps and Secrets are left out, and which kinds
live in namespaces is known of Kubernetes' own and of those that the repository defines.

Examples:
  espalier render . --plugin web
  espalier render . --offline --kubernetes 1.36 --cluster prod-eu --label tier=prod
  espalier render . --plugin web --show-secrets | kubectl diff -f -

Exit code: 0 all of it rendered, 1 something did not, 2 failed.`;

export function renderCommand(): Command {
  return withOutput(withCluster(new Command('render')), ['yaml', 'json', 'name'])
    .description('print the objects that the Plugins of a repository render to')
    .argument('[source]', 'folder or Git URL', '.')
    .option('-n, --namespace <name>', 'namespace of the Sync (default: that of the context; offline: espalier-system)')
    .option('--sync <name>', 'the Sync whose settings apply')
    .option('--settings <file>', 'a Sync in a file, in place of one in the cluster')
    .option('--ref <ref>', 'branch, tag or commit of a Git URL (default: what the Sync follows)')
    .option('--path <path>', 'folder in the source that holds the declarations (default: that of the Sync)')
    .option('--plugin <name>', 'only this Plugin; repeatable', addName)
    .option('--nested', 'also what the Plugins render that charts render')
    .option('--offline', 'ask no cluster')
    .option('--kubernetes <version>', 'render for this Kubernetes version, such as 1.36 (default: that of the cluster)')
    .option('--cluster <name>', 'render for the cluster of this name: its overlays')
    .option('--label <key=value>', 'a label of the cluster: its overlays, and `when`; repeatable', addLabel)
    .option('--show-secrets', 'print the values of Secrets too')
    .addHelpText('after', ABOUT)
    .action(async (source: string, flags: Flags) => show(await render(source, flags), flags));
}

async function render(source: string, flags: Flags): Promise<RenderedSource> {
  const { renderSource } = await import('./render-source.ts');
  if (flags.offline !== true) {
    const rendered = inCluster(flags, ({ client, namespace }) => renderSource({ client, namespace, source, flags }));
    return await rendered.catch(orOffline);
  }
  return await renderSource({ client: undefined, namespace: flags.namespace ?? 'espalier-system', source, flags });
}

async function show({ plugins, absent, faults, masked }: RenderedSource, flags: Flags): Promise<void> {
  const objects = plugins.flatMap((one) => one.objects);
  if (flags.output === 'json') print(await formatObjects(objects, 'json', { single: false }));
  else if (flags.output === 'name')
    for (const object of objects) print(await formatObjects([object], 'name', { single: true }));
  else for (const one of plugins) await printYaml(one);
  for (const { plugin, warnings } of plugins) for (const warning of warnings) say(`Warning: ${plugin}: ${warning}`);
  for (const one of absent) say(`note: ${one}`);
  for (const fault of faults) say(`✗ ${fault}`);
  if (masked && flags.output !== 'name') say('note: what is secret is hidden; --show-secrets prints it');
  const counts = [counted(plugins.length, 'plugin'), counted(objects.length, 'object')];
  say([...counts, ...(faults.length === 0 ? [] : [counted(faults.length, 'fault')])].join(', '));
  if (faults.length > 0) throw new ExitCode(1);
}

async function printYaml({ plugin, objects }: RenderedSource['plugins'][number]): Promise<void> {
  for (const object of objects) print(`---\n# ${plugin}\n${await formatData(object, 'yaml')}`);
}
