import { rm, stat } from 'node:fs/promises';
import { withDeadline } from '../git/deadline.ts';
import type { ProxySettings } from '../git/dial.ts';
import { describeBytes } from '../git/limits.ts';
import { redactor } from '../git/redact.ts';
import type { UrlPolicy } from '../git/url.ts';
import { runProgram } from '../tools/run.ts';
import { toolPath } from '../tools/tool.ts';
import { type Chart, ChartCache } from './cache.ts';
import { isExactVersion, sameVersion } from './chart-yaml.ts';
import { type ChartCredentials, secretsIn } from './credentials.ts';
import type { Folder } from './downloads.ts';
import { asChartError, asDownloadError, refused } from './errors.ts';
import { inspectArchive } from './inspect.ts';
import { type ChartLimits, DEFAULT_LIMITS } from './limits.ts';
import type { ArtifactFiles } from './oci.ts';
import {
  type ChartOrigin,
  type ChartRequest,
  checkRequest,
  credentialsOf,
  demandDigest,
  demandVersion,
  describe,
  keyOf,
  type ResolvedChart,
} from './origin.ts';
import type { ChartTools } from './provenance.ts';
import { proxyFrom } from './proxy.ts';
import { Remembered } from './remembered.ts';
import { Share } from './share.ts';
import { type DependencyRules, Sources } from './sources.ts';
import { Transport } from './transport.ts';

export type { ArtifactFiles, Chart, ChartCredentials, ChartOrigin, ChartRequest, Folder, ResolvedChart };

export interface Charts {
  /** Cheap: an index by its ETag or a list of tags, and not even that for a while. `fresh` asks in any case. */
  resolve(request: ChartRequest, options?: { signal?: AbortSignal; fresh?: boolean }): Promise<ResolvedChart>;
  /** The chart itself, checked and on disk. Downloads it once. */
  fetch(request: ChartRequest, resolved: ResolvedChart, signal?: AbortSignal): Promise<Chart>;
  /** A download as files, for what is no chart. */
  folder(request: ChartRequest, resolved: ResolvedChart, signal?: AbortSignal): Promise<Folder>;
  /** The files of an artifact in a registry. While `signal` lasts they can be read. */
  artifact(request: ChartRequest, resolved: ResolvedChart, signal?: AbortSignal): Promise<ArtifactFiles>;
  /** Every tag of an OCI repository, whatever it names. */
  listTags(request: ChartRequest, signal?: AbortSignal): Promise<string[]>;
  close(): Promise<void>;
}

export interface ChartsOptions {
  cacheDir: string;
  /** Default 500 MB; of charts, and as much again of downloads. */
  maxCacheBytes?: number;
  clock?: { now(): number };
  /** Which addresses may be dialled: the rules that Git has. */
  addresses?: UrlPolicy;
  /** Hosts, with or without a port, that are asked over plain http. */
  plainHttp?: readonly string[];
  /** For the charts that charts in Git depend on. */
  dependencies?: DependencyRules;
  /** `null`: none. Default: what the environment says. */
  proxy?: ProxySettings | null;
  tools?: ChartTools;
  limits?: Partial<ChartLimits>;
  timeoutMs?: number;
}

const DEFAULT_CACHE_BYTES = 500_000_000;
const DEFAULT_TIMEOUT_MS = 120_000;
const RANGE_FRESH_MS = 5 * 60_000;
const EXACT_FRESH_MS = 30 * 60_000;
const MAX_REMEMBERED = 5000;

export function createCharts(options: ChartsOptions): Charts {
  const { cacheDir, clock, proxy, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const now = (): number => (clock === undefined ? Date.now() : clock.now());
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const policy = { addresses: options.addresses ?? {}, plainHttp: options.plainHttp ?? [] };
  const transport = new Transport(policy, (url) =>
    proxy === undefined ? proxyFrom(process.env, url) : (proxy ?? undefined),
  );
  const maxBytes = options.maxCacheBytes ?? DEFAULT_CACHE_BYTES;
  const cache = new ChartCache({ dir: cacheDir, maxBytes, now });
  const share = new Share();
  const tools = options.tools ?? { run: runProgram, path: toolPath };
  const { dependencies = {} } = options;
  const parts = { cacheDir, maxBytes, transport, cache, share, limits, now, tools, dependencies };
  const sources = new Sources({ ...parts, fetch: fetchExact });
  const remembered = new Remembered<ResolvedChart>(MAX_REMEMBERED, now);
  const closed = new AbortController();

  async function guarded<T>(
    request: ChartRequest,
    signal: AbortSignal | undefined,
    step: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const what = describe(request.origin);
    try {
      return await withDeadline(`Getting ${what}`, timeoutMs, [signal, closed.signal], step);
    } catch (error) {
      const wrapped = asChartError(error, `Getting ${what}`, redactor(secretsIn(credentialsOf(request.origin))));
      throw request.origin.type === 'download' ? asDownloadError(wrapped) : wrapped;
    }
  }

  async function resolve(
    request: ChartRequest,
    { signal, fresh = false }: { signal?: AbortSignal; fresh?: boolean } = {},
  ): Promise<ResolvedChart> {
    checkRequest(request);
    const { origin, digest } = request;
    if (origin.type === 'git') return guarded(request, signal, (step) => resolveGit(request, step));
    const key = await questionKey(request);
    const known = fresh ? undefined : remembered.get(key);
    if (known !== undefined) return known;
    // What has a digest never means another chart.
    const pinned = digest === undefined ? undefined : await cache.note(key);
    if (pinned?.version !== undefined && pinned.id !== undefined) return { version: pinned.version, id: pinned.id };
    const resolved = await share.run(`resolve ${key} ${fresh}`, signal, (shared) =>
      guarded(request, shared, async (step) => {
        const found = await sources.find(origin, step, fresh);
        // It is here already, and what is not wanted is no news.
        if (origin.type === 'download') demandDigest(request, found, found.id);
        return found;
      }),
    );
    remembered.set(key, resolved, isExact(origin) ? EXACT_FRESH_MS : RANGE_FRESH_MS);
    return resolved;
  }

  async function listTags(request: ChartRequest, signal?: AbortSignal): Promise<string[]> {
    return await guarded(request, signal, (step) => sources.tags(request.origin, step));
  }

  async function resolveGit(request: ChartRequest, signal: AbortSignal): Promise<ResolvedChart> {
    const found = await sources.look(request.origin);
    if (found.version !== undefined) return { version: found.version, id: found.id };
    // Only the archive itself tells its version.
    const { version } = await obtain(request, { version: '', id: found.id }, signal);
    return { version, id: found.id };
  }

  async function fetch(request: ChartRequest, resolved: ResolvedChart, signal?: AbortSignal): Promise<Chart> {
    checkRequest(request);
    return guarded(request, signal, async (step) => {
      const chart = await obtain(request, resolved, step);
      if (request.verify !== undefined) await verify(request, resolved, chart, step);
      await pin(request, resolved);
      return chart;
    });
  }

  async function folder(request: ChartRequest, resolved: ResolvedChart, signal?: AbortSignal): Promise<Folder> {
    checkRequest(request);
    return guarded(request, signal, async (step) => {
      demandDigest(request, resolved, resolved.id);
      const found = await sources.folder(request.origin, resolved, step);
      await pin(request, resolved);
      return found;
    });
  }

  async function artifact(
    request: ChartRequest,
    resolved: ResolvedChart,
    signal?: AbortSignal,
  ): Promise<ArtifactFiles> {
    checkRequest(request);
    demandDigest(request, resolved, resolved.id);
    const own = signal === undefined ? closed.signal : AbortSignal.any([signal, closed.signal]);
    const files = await guarded(request, own, () => sources.artifact(request, resolved, own));
    await pin(request, resolved);
    return { ...files, read: (path) => guarded(request, own, () => files.read(path)) };
  }

  /** From now on nobody is asked what it means: a digest says it. */
  async function pin(request: ChartRequest, resolved: ResolvedChart): Promise<void> {
    if (request.digest === undefined || request.origin.type === 'git') return;
    const key = await questionKey(request);
    if ((await cache.note(key)) === undefined) await cache.setNote(key, { ...resolved });
  }

  function questionKey({ origin, digest }: ChartRequest): Promise<string> {
    const version = origin.type === 'repository' || origin.type === 'oci' ? origin.version : undefined;
    return cache.key('resolve', keyOf(origin), version, digest);
  }

  /** From the cache, or else from its origin, once for all who ask at the same time. */
  async function obtain(request: ChartRequest, resolved: ResolvedChart, signal: AbortSignal): Promise<Chart> {
    const key = await cache.key('chart', keyOf(request.origin), resolved.id);
    const note = await cache.note(key);
    const cached = note?.digest === undefined ? undefined : await cache.get(note.digest);
    if (cached !== undefined) {
      demandDigest(request, resolved, cached.digest);
      demandVersion(request, resolved, cached);
      return cached;
    }
    // Who requires a digest does not wait for who does not: what is refused to one is fine for another.
    return share.run(`fetch ${key} ${request.digest}`, signal, async (shared) => {
      const chart = await download(request, resolved, shared);
      await cache.setNote(key, { digest: chart.digest });
      return chart;
    });
  }

  async function download(request: ChartRequest, resolved: ResolvedChart, signal: AbortSignal): Promise<Chart> {
    const file = await cache.temporary();
    try {
      const digest = await sources.download(request.origin, resolved, file, signal);
      demandDigest(request, resolved, digest);
      const known = await cache.get(digest);
      if (known !== undefined) {
        demandVersion(request, resolved, known);
        return known;
      }
      const { size } = await stat(file);
      if (size > limits.archiveBytes) {
        throw refused(`${describe(request.origin)} packed has more than ${describeBytes(limits.archiveBytes)}.`);
      }
      const { chart, crds, usesLookup } = await inspectArchive(file, limits);
      const { dependencies: named, apiVersion: _, ...facts } = chart;
      const dependencies = named.map(({ name, alias }) => ({ name, as: alias ?? name }));
      demandVersion(request, resolved, facts);
      return await cache.put(file, digest, { ...facts, crds, usesLookup, dependencies, bytes: size });
    } finally {
      await rm(file, { force: true });
    }
  }

  async function verify(
    request: ChartRequest,
    resolved: ResolvedChart,
    chart: Chart,
    signal: AbortSignal,
  ): Promise<void> {
    const key = await cache.key('verified', keyOf(request.origin), resolved.id, chart.digest, request.verify);
    if ((await cache.note(key)) !== undefined) return;
    await share.run(`verify ${key}`, signal, (shared) => sources.verify(request, resolved, chart, shared));
    await cache.setNote(key, { digest: chart.digest });
  }

  /** A dependency of a chart in Git: one exact version, of the very chart that was named. */
  async function fetchExact(
    origin: ChartOrigin,
    { name, version }: { name: string; version: string },
    signal: AbortSignal,
  ): Promise<Chart> {
    const request = { origin };
    const chart = await fetch(request, await resolve(request, { signal }), signal);
    if (chart.name !== name) throw refused(`${describe(origin)} is the chart ${chart.name}, not ${name}.`);
    if (!sameVersion(chart.version, version))
      throw refused(`${describe(origin)} has the version ${chart.version}, not ${version}.`);
    return chart;
  }

  return {
    resolve,
    fetch,
    folder,
    artifact,
    listTags,
    async close() {
      closed.abort();
      await transport.close();
    },
  };
}

function isExact(origin: ChartOrigin): boolean {
  return (origin.type === 'repository' || origin.type === 'oci') && isExactVersion(origin.version ?? '');
}
