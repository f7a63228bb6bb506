import { rm, stat } from 'node:fs/promises';
import { withDeadline } from '../git/deadline.ts';
import type { ProxySettings } from '../git/dial.ts';
import { describeBytes } from '../git/limits.ts';
import { redactor } from '../git/redact.ts';
import type { FileTree } from '../git/tree.ts';
import type { UrlPolicy } from '../git/url.ts';
import { runProgram } from '../tools/run.ts';
import { toolPath } from '../tools/tool.ts';
import { type Chart, ChartCache } from './cache.ts';
import { isExactVersion, sameVersion } from './chart-yaml.ts';
import { type ChartCredentials, secretsIn } from './credentials.ts';
import { asChartError, refused } from './errors.ts';
import { inspectArchive } from './inspect.ts';
import { type ChartLimits, DEFAULT_LIMITS } from './limits.ts';
import type { ChartTools } from './provenance.ts';
import { proxyFrom } from './proxy.ts';
import { Share } from './share.ts';
import { Sources } from './sources.ts';
import { Transport } from './transport.ts';

export type { Chart, ChartCredentials };

export type ChartOrigin =
  | { type: 'repository'; repository: string; name: string; version?: string; credentials?: ChartCredentials }
  | { type: 'oci'; url: string; version?: string; credentials?: ChartCredentials }
  /** A folder with a Chart.yaml, or a .tgz, in Git. */
  | { type: 'git'; tree: FileTree; path: string };

export interface ChartRequest {
  origin: ChartOrigin;
  /** sha256:… that the archive must have; for OCI the manifest's digest will do as well. */
  digest?: string;
  /** Armored PGP public keys for `provenance`, PEM public keys for `cosign`. */
  verify?: { provider: 'provenance' | 'cosign'; keys: readonly string[] };
}

/** Which exact chart a request means now; `id` changes when and only when the chart would. */
export interface ResolvedChart {
  version: string;
  id: string;
}

export interface Charts {
  /** Cheap: an index by its ETag or a list of tags, and not even that for a while. `fresh` asks in any case. */
  resolve(request: ChartRequest, options?: { signal?: AbortSignal; fresh?: boolean }): Promise<ResolvedChart>;
  /** The chart itself, checked and on disk. Downloads it once. */
  fetch(request: ChartRequest, resolved: ResolvedChart, signal?: AbortSignal): Promise<Chart>;
  /** Every tag of an OCI repository, whatever it names. */
  listTags(request: ChartRequest, signal?: AbortSignal): Promise<string[]>;
  close(): Promise<void>;
}

export interface ChartsOptions {
  cacheDir: string;
  /** Default 500 MB. */
  maxCacheBytes?: number;
  clock?: { now(): number };
  /** Which addresses may be dialled: the rules that Git has. */
  addresses?: UrlPolicy;
  /** Hosts, with or without a port, that are asked over plain http. */
  plainHttp?: readonly string[];
  /** For the charts that charts in Git depend on. */
  dependencies?: { allow?: readonly string[] };
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
const DIGEST = /^sha256:[0-9a-f]{64}$/;

export function createCharts(options: ChartsOptions): Charts {
  const { cacheDir, clock, proxy, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const now = (): number => (clock === undefined ? Date.now() : clock.now());
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const policy = { addresses: options.addresses ?? {}, plainHttp: options.plainHttp ?? [] };
  const transport = new Transport(policy, (url) =>
    proxy === undefined ? proxyFrom(process.env, url) : (proxy ?? undefined),
  );
  const cache = new ChartCache({ dir: cacheDir, maxBytes: options.maxCacheBytes ?? DEFAULT_CACHE_BYTES, now });
  const share = new Share();
  const tools = options.tools ?? { run: runProgram, path: toolPath };
  const allow = options.dependencies?.allow;
  const sources = new Sources({ cacheDir, transport, cache, share, limits, now, tools, allow, fetch: fetchExact });
  const remembered = new Map<string, { resolved: ResolvedChart; until: number }>();
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
      throw asChartError(error, `Getting ${what}`, redactor(secretsIn(credentialsOf(request.origin))));
    }
  }

  async function resolve(
    request: ChartRequest,
    { signal, fresh = false }: { signal?: AbortSignal; fresh?: boolean } = {},
  ): Promise<ResolvedChart> {
    checkRequest(request);
    const { origin, digest } = request;
    if (origin.type === 'git') return guarded(request, signal, (step) => resolveGit(request, step));
    const key = await cache.key('resolve', keyOf(origin), origin.version, digest);
    const known = remembered.get(key);
    if (!fresh && known !== undefined && known.until > now()) return known.resolved;
    // What has a digest never means another chart.
    const pinned = digest === undefined ? undefined : await cache.note(key);
    if (pinned?.version !== undefined && pinned.id !== undefined) return { version: pinned.version, id: pinned.id };
    const resolved = await share.run(`resolve ${key} ${fresh}`, signal, (shared) =>
      guarded(request, shared, (step) => sources.find(origin, step, fresh)),
    );
    remember(key, resolved, isExactVersion(origin.version ?? '') ? EXACT_FRESH_MS : RANGE_FRESH_MS);
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

  function remember(key: string, resolved: ResolvedChart, ms: number): void {
    remembered.delete(key);
    remembered.set(key, { resolved, until: now() + ms });
    for (const oldest of remembered.keys()) {
      if (remembered.size <= MAX_REMEMBERED) break;
      remembered.delete(oldest);
    }
  }

  async function fetch(request: ChartRequest, resolved: ResolvedChart, signal?: AbortSignal): Promise<Chart> {
    checkRequest(request);
    return guarded(request, signal, async (step) => {
      const chart = await obtain(request, resolved, step);
      if (request.verify !== undefined) await verify(request, resolved, chart, step);
      if (request.digest !== undefined && request.origin.type !== 'git') {
        const key = await cache.key('resolve', keyOf(request.origin), request.origin.version, request.digest);
        if ((await cache.note(key)) === undefined) await cache.setNote(key, { ...resolved });
      }
      return chart;
    });
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
  async function fetchExact(origin: ChartOrigin, name: string, signal: AbortSignal): Promise<Chart> {
    const request = { origin };
    const chart = await fetch(request, await resolve(request, { signal }), signal);
    if (chart.name !== name) throw refused(`${describe(origin)} is the chart ${chart.name}, not ${name}.`);
    return chart;
  }

  return {
    resolve,
    fetch,
    listTags,
    async close() {
      closed.abort();
      await transport.close();
    },
  };
}

function checkRequest({ origin, digest, verify }: ChartRequest): void {
  if (digest !== undefined && !DIGEST.test(digest)) {
    throw refused(
      `The digest ${JSON.stringify(digest.slice(0, 80))} of ${describe(origin)} must be sha256: and 64 hexadecimal digits.`,
    );
  }
  if (verify?.provider === 'cosign' && origin.type !== 'oci') {
    throw refused('Cosign signs charts in OCI registries only; use verify.provider provenance here.');
  }
}

function demandDigest({ origin, digest }: ChartRequest, { id }: ResolvedChart, actual: string): void {
  if (digest === undefined || digest === actual || (origin.type === 'oci' && digest === id)) return;
  throw refused(
    `${describe(origin)} has the digest ${actual}, but ${digest} is required. If the new content is wanted, change the digest; if nobody changed the chart on purpose, ask its owner.`,
    { expected: digest, actual },
  );
}

function demandVersion(
  { origin }: ChartRequest,
  resolved: ResolvedChart,
  chart: { name: string; version: string },
): void {
  if (origin.type === 'repository' && chart.name !== origin.name) {
    throw refused(
      `The repository ${origin.repository} gave the chart ${chart.name} for ${origin.name}; it is not used.`,
    );
  }
  if (resolved.version !== '' && !sameVersion(chart.version, resolved.version)) {
    throw refused(
      `${describe(origin)} was to be version ${resolved.version}, but its Chart.yaml says ${chart.version}; it is not used.`,
    );
  }
}

/** Who an origin is for: another login may see another chart under the same name. */
function keyOf(origin: ChartOrigin): unknown[] {
  switch (origin.type) {
    case 'repository':
      return ['repository', origin.repository, origin.name, origin.credentials ?? {}];
    case 'oci':
      return ['oci', origin.url, origin.credentials ?? {}];
    case 'git':
      return ['git'];
  }
}

function credentialsOf(origin: ChartOrigin): ChartCredentials {
  return origin.type === 'git' ? {} : (origin.credentials ?? {});
}

function describe(origin: ChartOrigin): string {
  switch (origin.type) {
    case 'repository':
      return redactor([])(`the chart ${origin.name} of ${origin.repository}`);
    case 'oci':
      return redactor([])(`the chart ${origin.url}`);
    case 'git':
      return `the chart ${origin.path} in Git`;
  }
}
