import { Argument, Command } from 'commander';
import type { Imported } from '../compat/import/imported.ts';
import type { ImportFrom } from '../compat/import/page.ts';
import { inCluster } from './cluster.ts';
import { addName } from './collect.ts';
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
import { Table } from './table.ts';

export interface ImportFlags extends ClusterOptions, ScopeOptions, Omit<OutputOptions, 'output'> {
  out: string;
  selector?: string;
  force?: true;
  repository?: string[];
  sameRepository?: string;
  checkout?: string[];
  valuesToSecret?: true;
  output?: 'json';
}

const FROM: readonly ImportFrom[] = ['kubegems', 'flux', 'argocd', 'helm'];

const ABOUT = `
Writes a repository of Plugins that take over what runs in the cluster as it is, and IMPORT.md: what could not be
carried over, and what to do next. The cluster is only read.

Examples:
  espalier import helm -A --out platform --repository https://charts.example.com
  espalier import flux -A --out . --same-repository https://git.example.com/platform/fleet.git
  espalier import argocd -n argocd --out platform --checkout https://git.example.com/apps.git=../apps`;

export function importCommand(): Command {
  const command = new Command('import')
    .description('write a repository of Plugins out of what another tool runs in the cluster')
    .addArgument(new Argument('<from>', 'whose objects').choices(FROM))
    .requiredOption('--out <folder>', 'where to write')
    .option('-l, --selector <labels>', 'only objects with these labels')
    .option('--force', 'write into a folder that is not empty, over files of the same name')
    .option('--same-repository <url>', '--out is a checkout of this repository, which the Sync will follow')
    .option('--checkout <url=folder>', 'a checkout of a repository that sources name; repeatable', addName)
    .option('--repository <url>', 'helm: where to look for the charts, https:// or oci://; repeatable', addName)
    .option('--values-to-secret', 'helm: values that look like secrets go into Secrets beside the Plugins')
    .addHelpText('after', ABOUT);
  return withOutput(withCluster(withScope(command)), ['json']).action(run);
}

async function run(from: ImportFrom, flags: ImportFlags): Promise<void> {
  const [{ importWorld }, { writeImport, mustBeWritable }] = await Promise.all([
    import('./import-world.ts'),
    import('./import-write.ts'),
  ]);
  await mustBeWritable(flags);
  const world = await importWorld(flags);
  const imported = await inCluster(flags, async (cluster) => {
    switch (from) {
      case 'flux':
        return (await import('./import-flux.ts')).importFlux(cluster, flags, world);
      case 'argocd':
        return (await import('./import-argocd.ts')).importArgo(cluster, flags, world);
      case 'helm':
        return (await import('./import-helm.ts')).importHelm(cluster, flags, world);
      case 'kubegems':
        return (await import('./import-kubegems.ts')).importKubegems(cluster, flags);
    }
  });
  if (imported.plugins.length + imported.left.length === 0) return say(nothingFound(from, flags));
  await writeImport(from, imported, flags, world.printYaml);
  tell(imported, flags);
}

function tell({ plugins, origins, left }: Imported, flags: ImportFlags): void {
  const { out } = flags;
  const rows = plugins.map(({ metadata: { name, namespace = '' }, spec }) => ({
    ...{ namespace, name, kind: String(spec.kind), from: origins.get(`${namespace}/${name}`) ?? '' },
    left: left.filter(({ object }) => object === origins.get(`${namespace}/${name}`)).length,
  }));
  if (flags.output === 'json') {
    print(JSON.stringify({ out, plugins: rows.map(({ left: _, ...row }) => row), left }, null, 2));
  } else if (rows.length > 0) {
    const header = ['NAMESPACE', 'NAME', 'KIND', 'LEFT', 'IT WAS'];
    const cells = rows.map((row) => [row.namespace, row.name, row.kind, String(row.left), row.from]);
    const table = new Table({ paint: painter(wantsColor(flags)) });
    print(table.lines([header, ...cells].map((row) => row.map((text) => ({ text })))).join('\n'));
  }
  const what = plugins.length === 1 ? '1 Plugin' : `${plugins.length} Plugins`;
  const missing = left.length === 1 ? '1 thing could not be' : `${left.length} things could not be`;
  const carried = left.length === 0 ? 'everything was' : missing;
  say(`${what} in ${out}; ${carried} carried over. Read ${out}/IMPORT.md: it says what comes next.`);
}

function nothingFound(from: ImportFrom, { allNamespaces, selector }: ImportFlags): string {
  const where = allNamespaces ? 'in any namespace' : 'in the namespace';
  const with_ = selector === undefined ? '' : ` with -l ${selector}`;
  return `Nothing of ${from}${with_} ${where}: nothing was written.${allNamespaces ? '' : ' Add -n <namespace>, or -A.'}`;
}
