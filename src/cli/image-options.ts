import type { Command } from 'commander';
import { EspalierError, isError } from '../api/errors.ts';
import { inCluster } from './cluster.ts';
import { addLabel, addName } from './collect.ts';
import type { ImageSource } from './image-source.ts';
import { type ClusterOptions, withCluster } from './options.ts';
import type { RenderFlags } from './render-source.ts';

export interface ImageSourceFlags extends ClusterOptions, RenderFlags {
  namespace?: string;
  offline?: true;
  insecureRegistry?: string[];
  allowPrivate?: true;
}

/** How a source of Plugins is named and described: the same for every command about images. */
export function withImageSource(command: Command): Command {
  return withCluster(command)
    .argument('[source]', 'folder or Git URL (default: with --sync what that Sync follows, else this folder)')
    .option('-n, --namespace <name>', 'namespace of the Sync (default: that of the context; offline: espalier-system)')
    .option('--sync <name>', 'the Sync whose settings apply')
    .option('--settings <file>', 'a Sync in a file, in place of one in the cluster')
    .option('--ref <ref>', 'branch, tag or commit of a Git URL (default: what the Sync follows)')
    .option('--path <path>', 'folder in the source that holds the declarations (default: that of the Sync)')
    .option('--plugin <name>', 'only this Plugin; repeatable', addName)
    .option('--offline', 'ask no cluster; charts are fetched all the same')
    .option('--kubernetes <version>', 'render for this Kubernetes version, such as 1.36 (default: that of the cluster)')
    .option('--cluster <name>', 'render for the cluster of this name: its overlays')
    .option('--label <key=value>', 'a label of the cluster: its overlays, and `when`; repeatable', addLabel)
    .option('--allow-private', 'charts may come from private addresses')
    .option('--insecure-registry <host[:port]>', 'a host that speaks plain http; repeatable', addName);
}

/** Does something with the images of the source that a command line names. */
export async function fromImageSource<T>(
  source: string | undefined,
  flags: ImageSourceFlags,
  use: (source: ImageSource) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const { withImages } = await import('./image-source.ts');
  const charts = { plainHttp: flags.insecureRegistry ?? [], privateAddresses: flags.allowPrivate === true };
  const from = source ?? (flags.sync === undefined && flags.settings === undefined ? '.' : undefined);
  if (flags.offline === true) {
    const namespace = flags.namespace ?? 'espalier-system';
    return await withImages({ client: undefined, namespace, source: from ?? '.', flags, charts, signal }, use);
  }
  const work = inCluster(flags, ({ client, namespace }) =>
    withImages({ client, namespace, source: from, flags, charts, signal }, use),
  );
  return await work.catch(orOffline);
}

/** What to do where there is no cluster. */
export function orOffline(error: unknown): never {
  if (!isError(error, 'KubeUnreachable', 'KubeConfigInvalid')) throw error;
  const message = `${error.message}. Without a cluster: --offline, with --kubernetes <version> where something depends on it`;
  throw new EspalierError(error.code, message, { cause: error, retry: error.retry });
}
