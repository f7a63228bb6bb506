import { Command } from 'commander';
import { EspalierError } from '../api/errors.ts';
import { API_VERSION } from '../api/names.ts';
import { type Cluster, inCluster } from './cluster.ts';
import { headerOf, rowOf } from './columns.ts';
import { notFound } from './find.ts';
import { columnOptions, type GetOptions, isNamed, tableFor, targetOf } from './get-options.ts';
import { type GetRequest, parseGet } from './get-request.ts';
import { noneFound } from './none-found.ts';
import { withCluster, withOutput, withScope } from './options.ts';
import { formatObjects } from './output.ts';
import { print, say } from './print.ts';
import { asOurs, type Ours } from './standing.ts';

const EXAMPLES = `
Examples:
  espalier get                        Syncs and Plugins in the namespace of the context
  espalier get plugins -A -o wide
  espalier get plugin cert-manager -o yaml
  espalier get plugins -A -w          go on, and print what changes`;

export function getCommand(): Command {
  const command = new Command('get')
    .description('list Syncs and Plugins: what is installed, whether it is ready, and why not')
    .argument('[what...]', 'syncs, plugins or all, then names; or sync/<name>, plugin/<name>')
    .option('-l, --selector <labels>', 'only those with these labels: app=web,tier!=test')
    .option('-w, --watch', 'go on, and print each change until Ctrl-C')
    .addHelpText('after', EXAMPLES);
  return withOutput(withScope(withCluster(command)), ['json', 'yaml', 'wide', 'name']).action(get);
}

async function get(words: string[], options: GetOptions): Promise<void> {
  const request = parseGet(words);
  if (request.names !== undefined && options.selector !== undefined) {
    throw new EspalierError('InvalidConfiguration', 'give names or --selector, not both', { retry: false });
  }
  await inCluster(options, async (cluster) => {
    if (options.watch) {
      const { watchAndPrint } = await import('./get-watch.ts');
      return await watchAndPrint(cluster, request, options);
    }
    const objects = await fetchAll(cluster, request, options);
    await printObjects(objects, request, options);
    const missing = (request.names ?? []).filter((name) => !objects.some((object) => isNamed(object, name)));
    for (const target of missing.slice(1)) say(`espalier: ${(await notFound(cluster, target)).message}`);
    if (missing[0] !== undefined) throw await notFound(cluster, missing[0]);
    if (objects.length === 0) say(await noneFound(cluster, request.kinds, options));
  });
}

async function fetchAll({ client, namespace }: Cluster, request: GetRequest, options: GetOptions): Promise<Ours[]> {
  const { names } = request;
  if (names !== undefined && !options.allNamespaces) {
    const answers = await Promise.all(
      names.map(({ kind, name }) => client.get({ apiVersion: API_VERSION, kind, namespace, name })),
    );
    return answers.flatMap((object) => (object === undefined ? [] : [asOurs(object)]));
  }
  const lists = await Promise.all(request.kinds.map((kind) => client.list(targetOf(kind, namespace, options))));
  const objects = lists.flatMap(({ items }) => items.map(asOurs));
  return names === undefined ? objects : objects.filter((object) => names.some((name) => isNamed(object, name)));
}

async function printObjects(objects: readonly Ours[], request: GetRequest, options: GetOptions): Promise<void> {
  const { output } = options;
  if (output !== undefined && output !== 'wide') {
    const single = request.names?.length === 1 && objects.length === 1;
    const text = await formatObjects(objects, output, { single });
    if (text !== '') print(text);
    return;
  }
  const groups = request.kinds.map((kind) => objects.filter((object) => object.kind === kind));
  const tables = groups.filter((group) => group.length > 0).map((group) => tableOf(group, request, options));
  if (tables.length > 0) print(tables.join('\n\n'));
}

function tableOf(group: readonly Ours[], request: GetRequest, options: GetOptions): string {
  const columns = columnOptions(request, options);
  const header = headerOf(group[0]?.kind, columns);
  return tableFor(options)
    .lines([header, ...group.map((object) => rowOf(object, columns))])
    .join('\n');
}
