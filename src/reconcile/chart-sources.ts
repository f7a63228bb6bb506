import { EspalierError, isError, messageOf, type ObjectRef, type Plugin, type ResolvedSource } from '../api/index.ts';
import type { Chart, ChartRequest, Charts, ResolvedChart } from '../charts/charts.ts';
import { chartCredentials } from '../charts/credentials.ts';
import { contentKey } from '../resolve/key.ts';
import type { Clock } from '../runtime/clock.ts';
import { nextRun } from '../runtime/cron.ts';
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
 * Plugins whose chart is in a repository or registry: which exact chart that means, looked up by the Plugin's own
 * schedule. What the last look found is on record in the Plugin's status, so that a start asks nobody.
 */
export class ChartSources {
  readonly #options: ChartSourcesOptions;
  readonly #seen = new Map<string, Seen>();

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
  async look(plugin: Plugin, isAsked: boolean, signal: AbortSignal): Promise<number> {
    const { charts, clock, onTrouble } = this.#options;
    const key = keyOf(plugin);
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
    } catch (error) {
      // What is installed stays what is wanted: only that there is news can't be told.
      if (known === undefined || signal.aborted || isError(error, 'Aborted')) throw error;
      onTrouble(key, messageOf(error));
      this.#seen.set(key, { resolved: known, nextLook });
    }
    return nextLook - now;
  }

  async fetch(plugin: Plugin, signal: AbortSignal | undefined): Promise<Chart> {
    const known = this.known(plugin);
    if (known === undefined) throw new EspalierError('SourceMissing', 'its chart was not looked up yet');
    const resolved: ResolvedChart = { version: known.version, id: known.id };
    return await this.#options.charts.fetch(this.#request(plugin), resolved, signal);
  }

  forget(key: string): void {
    this.#seen.delete(key);
  }

  #request(plugin: Plugin): ChartRequest {
    return chartRequest(plugin, (ref) => {
      const object = this.#options.outside.get(ref);
      if (object === 'absent' || object === 'unknown' || object === undefined) return undefined;
      return secretData(object as Parameters<typeof secretData>[0]);
    });
  }
}

export function hasChartSource({ spec }: Plugin): boolean {
  return spec.source.chart !== undefined || spec.source.oci !== undefined;
}

/** The Secrets that fetching a chart needs. */
export function chartSecretRefs(plugin: Plugin): ObjectRef[] {
  const source = plugin.spec.source.chart ?? plugin.spec.source.oci;
  return [source?.secretRef?.name, source?.verify?.secretRef.name].flatMap((name) =>
    name === undefined ? [] : [{ apiVersion: 'v1', kind: 'Secret', namespace: plugin.metadata.namespace ?? '', name }],
  );
}

/** What is asked of the outside for a Plugin's chart. `dataOf` reads a Secret, decoded. */
export function chartRequest(
  plugin: Plugin,
  dataOf: (ref: ObjectRef) => Readonly<Record<string, string>> | undefined,
): ChartRequest {
  const { chart, oci } = plugin.spec.source;
  const source = chart ?? oci;
  const url = chart?.repository ?? oci?.url;
  if (source === undefined || url === undefined)
    throw new EspalierError('SourceMissing', 'the Plugin names no chart: set source.chart, source.oci or source.git', {
      retry: false,
    });
  const data = (name: string) => {
    const found = dataOf({ apiVersion: 'v1', kind: 'Secret', namespace: plugin.metadata.namespace ?? '', name });
    if (found === undefined)
      throw new EspalierError('ChartAuthFailed', `Secret ${name}, which its source names, does not exist`);
    return { ...found };
  };
  const { secretRef, verify, version, digest } = source;
  const credentials =
    secretRef === undefined ? {} : { credentials: chartCredentials(data(secretRef.name), new URL(url).host) };
  const wanted = version === undefined ? {} : { version };
  return {
    origin:
      chart === undefined
        ? { type: 'oci', url, ...wanted, ...credentials }
        : { type: 'repository', repository: url, name: chart.name, ...wanted, ...credentials },
    ...(digest === undefined ? {} : { digest }),
    ...(verify === undefined
      ? {}
      : { verify: { provider: verify.provider, keys: Object.values(data(verify.secretRef.name)) } }),
  };
}

/** Another source is another question; other credentials for it are not. */
export function sourceHash({ spec }: Plugin): string {
  const { chart, oci } = spec.source;
  const { secretRef: _, ...asked } = { secretRef: undefined, ...(chart ?? oci) };
  return contentKey({ asked }).slice(0, 20);
}
