import { EspalierError, isError, messageOf, type ObjectRef, type Plugin, type ResolvedSource } from '../api/index.ts';
import type { Chart, ChartOrigin, ChartRequest, Charts, Folder, ResolvedChart } from '../charts/charts.ts';
import { chartCredentials } from '../charts/credentials.ts';
import { asDownloadError } from '../charts/errors.ts';
import { contentKey } from '../resolve/key.ts';
import type { Clock } from '../runtime/clock.ts';
import { nextRun } from '../runtime/cron.ts';
import { type ExpansionSource, packageInRegistry } from './expansion-source.ts';
import { secretData } from './secret-data.ts';
import { keyOf } from './store.ts';

interface Seen {
  resolved: ResolvedSource;
  nextLook: number;
}

export interface ChartSourcesOptions {
  charts: Charts;
  clock: Clock;
  outside: { get(ref: ObjectRef): unknown };
  /** The last look failed; what was known before still holds. */
  onTrouble(plugin: string, message: string): void;
}

/**
 * Plugins whose chart is in a repository or registry, or that are downloaded: which exact content that means, looked up
 * by the Plugin's own schedule. What the last look found is on record in the Plugin's status, so that a start asks nobody.
 */
export class ChartSources {
  readonly #options: ChartSourcesOptions;
  readonly #seen = new Map<string, Seen>();
  /** What they mean is no longer to be had: to be looked at before its time. */
  readonly #changed = new Set<string>();

  constructor(options: ChartSourcesOptions) {
    this.#options = options;
  }

  /** What is known without asking; undefined before the first look at this source. */
  known(plugin: Plugin): ResolvedSource | undefined {
    const question = sourceHash(plugin);
    const seen = this.#seen.get(keyOf(plugin))?.resolved;
    return [seen, plugin.status?.resolved].find((one) => one?.source === question);
  }

  /** Looks where that is due or asked for, and says in how many milliseconds it is due again. */
  async look(plugin: Plugin, isWished: boolean, signal: AbortSignal): Promise<number> {
    const { charts, clock, onTrouble } = this.#options;
    const key = keyOf(plugin);
    const isAsked = isWished || this.#changed.has(key);
    const known = this.known(plugin);
    const seen = this.#seen.get(key);
    const now = clock.now();
    const isSame = known !== undefined && seen?.resolved.source === known.source;
    if (!isAsked && isSame && seen !== undefined && seen.nextLook > now) return seen.nextLook - now;
    const nextLook = nextRun(plugin.spec.poll, now);
    // Right after a start: the record is as good as the last look was, and its next one comes by its schedule.
    if (!isAsked && known !== undefined && seen === undefined) {
      this.#seen.set(key, { resolved: known, nextLook });
      return nextLook - now;
    }
    try {
      const found = await charts.resolve(this.#request(plugin), { signal, fresh: isAsked || known !== undefined });
      this.#seen.set(key, { resolved: { source: sourceHash(plugin), ...found }, nextLook });
      this.#changed.delete(key);
    } catch (error) {
      // What is installed stays what is wanted: only that there is news can't be told.
      if (known === undefined || signal.aborted || isError(error, 'Aborted')) throw error;
      onTrouble(key, messageOf(error));
      this.#seen.set(key, { resolved: known, nextLook });
    }
    return nextLook - now;
  }

  async fetch(plugin: Plugin, signal: AbortSignal | undefined): Promise<Chart> {
    const { charts } = this.#options;
    return await this.#orLater(plugin, () => charts.fetch(this.#request(plugin), this.#resolved(plugin), signal));
  }

  /** What was downloaded, for what is no chart. */
  async folder(plugin: Plugin, signal: AbortSignal | undefined): Promise<SourceFolder> {
    const { charts } = this.#options;
    return await this.#orLater(plugin, () =>
      fetchFolder(charts, this.#request(plugin), this.#resolved(plugin), signal),
    );
  }

  /** An expansion package. */
  async package(plugin: Plugin, signal: AbortSignal | undefined): Promise<ExpansionSource> {
    const { charts } = this.#options;
    const resolved = this.#resolved(plugin);
    return await this.#orLater(plugin, async () =>
      packageInRegistry(plugin, await charts.artifact(this.#request(plugin), resolved, signal), resolved),
    );
  }

  async #orLater<T>(plugin: Plugin, fetch: () => Promise<T>): Promise<T> {
    try {
      return await fetch();
    } catch (error) {
      if (isError(error) && error.data.changed === true) this.#changed.add(keyOf(plugin));
      throw error;
    }
  }

  #resolved(plugin: Plugin): ResolvedChart {
    const known = this.known(plugin);
    if (known === undefined) throw new EspalierError('SourceMissing', 'its source was not looked up yet');
    return { version: known.version, id: known.id };
  }

  forget(key: string): void {
    this.#seen.delete(key);
    this.#changed.delete(key);
  }

  #request(plugin: Plugin): ChartRequest {
    return chartRequest(plugin, (ref) => {
      const object = this.#options.outside.get(ref);
      if (object === 'absent' || object === 'unknown' || object === undefined) return undefined;
      return secretData(object as Parameters<typeof secretData>[0]);
    });
  }
}

/** What manifests and kustomizations are made from. */
export interface SourceFolder extends Folder {
  /** What stands for a version, where no commit does. */
  version?: string;
}

export async function fetchFolder(
  charts: Charts,
  request: ChartRequest,
  resolved: ResolvedChart,
  signal: AbortSignal | undefined,
): Promise<SourceFolder> {
  return { ...(await charts.folder(request, resolved, signal)), version: resolved.version };
}

/** True for what is looked up on a server by its own schedule: a chart, or what is downloaded. */
export function hasChartSource({ spec }: Plugin): boolean {
  const { chart, oci, download } = spec.source;
  return (chart ?? oci ?? download) !== undefined;
}

/** The Secrets that fetching needs. */
export function chartSecretRefs(plugin: Plugin): ObjectRef[] {
  const { chart, oci, download } = plugin.spec.source;
  const source = chart ?? oci;
  return [(source ?? download)?.secretRef?.name, source?.verify?.secretRef.name].flatMap((name) =>
    name === undefined ? [] : [{ apiVersion: 'v1', kind: 'Secret', namespace: plugin.metadata.namespace ?? '', name }],
  );
}

/** What is asked of the outside for a Plugin's source. `dataOf` reads a Secret, decoded. */
export function chartRequest(plugin: Plugin, dataOf: SecretData): ChartRequest {
  try {
    return requestOf(plugin, dataOf);
  } catch (error) {
    throw plugin.spec.source.download !== undefined && isError(error) ? asDownloadError(error) : error;
  }
}

type SecretData = (ref: ObjectRef) => Readonly<Record<string, string>> | undefined;

function requestOf(plugin: Plugin, dataOf: SecretData): ChartRequest {
  const { chart, oci, download } = plugin.spec.source;
  const data = (name: string) => {
    const found = dataOf({ apiVersion: 'v1', kind: 'Secret', namespace: plugin.metadata.namespace ?? '', name });
    if (found === undefined)
      throw new EspalierError('ChartAuthFailed', `Secret ${name}, which its source names, does not exist`);
    return { ...found };
  };
  const credentialsFor = (url: string, name: string | undefined) =>
    name === undefined ? {} : { credentials: chartCredentials(data(name), new URL(url).host) };
  const verify = (chart ?? oci)?.verify;
  const digest = (chart ?? oci ?? download)?.digest;
  return {
    origin: originOf(plugin, credentialsFor),
    ...(digest === undefined ? {} : { digest }),
    ...(verify === undefined
      ? {}
      : { verify: { provider: verify.provider, keys: Object.values(data(verify.secretRef.name)) } }),
  };
}

function originOf(
  { spec }: Plugin,
  credentialsFor: (url: string, secret: string | undefined) => Pick<ChartOrigin & { type: 'oci' }, 'credentials'>,
): ChartOrigin {
  const { chart, oci, download } = spec.source;
  if (chart !== undefined) {
    const { repository, name, version, secretRef } = chart;
    const wanted = version === undefined ? {} : { version };
    return { type: 'repository', repository, name, ...wanted, ...credentialsFor(repository, secretRef?.name) };
  }
  if (oci !== undefined) {
    const { version, inside } = oci;
    const wanted = { ...(version === undefined ? {} : { version }), ...(inside === undefined ? {} : { inside }) };
    return { type: 'oci', url: oci.url, ...wanted, ...credentialsFor(oci.url, oci.secretRef?.name) };
  }
  if (download !== undefined) {
    const { url, path, secretRef } = download;
    const wanted = path === undefined ? {} : { path };
    return { type: 'download', url, ...wanted, ...credentialsFor(url, secretRef?.name) };
  }
  throw new EspalierError(
    'SourceMissing',
    'the Plugin names no source: set source.chart, source.oci, source.git or source.download',
    { retry: false },
  );
}

/** Another source is another question; other credentials for it are not, nor is another place in the same download. */
export function sourceHash({ spec }: Plugin): string {
  const { chart, oci, download } = spec.source;
  if (download !== undefined) return contentKey({ download: [download.url, download.digest ?? null] }).slice(0, 20);
  const { secretRef: _, ...asked } = { secretRef: undefined, ...(chart ?? oci) };
  return contentKey({ asked }).slice(0, 20);
}
