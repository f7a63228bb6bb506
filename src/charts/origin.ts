import { redactor } from '../git/redact.ts';
import type { FileTree } from '../git/tree.ts';
import { sameVersion } from './chart-yaml.ts';
import type { ChartCredentials } from './credentials.ts';
import { shownUrl } from './downloads.ts';
import { refused } from './errors.ts';

export type ChartOrigin =
  | { type: 'repository'; repository: string; name: string; version?: string; credentials?: ChartCredentials }
  /** A tag that is literally the version comes before any that is in it as a range. `inside`: the chart is one file of several. */
  | { type: 'oci'; url: string; version?: string; inside?: string; credentials?: ChartCredentials }
  /** A .tgz, .zip or text on a web server; `path` inside of it. */
  | { type: 'download'; url: string; path?: string; credentials?: ChartCredentials }
  /** A folder with a Chart.yaml, or a .tgz, in Git; or a .tgz `inside` of one. */
  | { type: 'git'; tree: FileTree; path: string; inside?: string };

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

const DIGEST = /^sha256:[0-9a-f]{64}$/;

export function checkRequest({ origin, digest, verify }: ChartRequest): void {
  if (digest !== undefined && !DIGEST.test(digest)) {
    throw refused(
      `The digest ${JSON.stringify(digest.slice(0, 80))} of ${describe(origin)} must be sha256: and 64 hexadecimal digits.`,
    );
  }
  if (verify?.provider === 'cosign' && origin.type !== 'oci') {
    throw refused('Cosign signs charts in OCI registries only; use verify.provider provenance here.');
  }
}

/** `actual`: the digest of the archive. What the id names will do as well where it is a digest. */
export function demandDigest({ origin, digest }: ChartRequest, { id }: ResolvedChart, actual: string): void {
  if (digest === undefined || digest === actual) return;
  if ((origin.type === 'oci' || origin.type === 'download') && digest === id) return;
  const found = origin.type === 'download' ? id : actual;
  throw refused(
    `${describe(origin)} has the digest ${found}, but ${digest} is required. If the new content is wanted, change the digest; if nobody changed it on purpose, ask its owner.`,
    { expected: digest, actual: found },
  );
}

export function demandVersion(
  { origin }: ChartRequest,
  resolved: ResolvedChart,
  chart: { name: string; version: string },
): void {
  if (origin.type === 'repository' && chart.name !== origin.name) {
    throw refused(
      `The repository ${origin.repository} gave the chart ${chart.name} for ${origin.name}; it is not used.`,
    );
  }
  if (!saysVersion(origin, resolved) || sameVersion(chart.version, resolved.version)) return;
  throw refused(
    `${describe(origin)} was to be version ${resolved.version}, but its Chart.yaml says ${chart.version}; it is not used.`,
  );
}

/** A tag that was asked for by its name, such as v1.34, is that of something else than the chart's own version. */
function saysVersion(origin: ChartOrigin, { version }: ResolvedChart): boolean {
  if (origin.type === 'download' || version === '') return false;
  return origin.type !== 'oci' || origin.version !== version;
}

/** Who an origin is for: another login may see another chart under the same name. */
export function keyOf(origin: ChartOrigin): unknown[] {
  switch (origin.type) {
    case 'repository':
      return ['repository', origin.repository, origin.name, origin.credentials ?? {}];
    case 'oci':
      return ['oci', origin.url, origin.credentials ?? {}, ...inside(origin)];
    case 'download':
      return ['download', origin.url, origin.path ?? null, origin.credentials ?? {}];
    case 'git':
      return ['git', ...inside(origin)];
  }
}

function inside({ inside }: { inside?: string }): string[] {
  return inside === undefined ? [] : [inside];
}

export function credentialsOf(origin: ChartOrigin): ChartCredentials {
  return origin.type === 'git' ? {} : (origin.credentials ?? {});
}

/** What a source is called in a sentence. */
export function describe(origin: ChartOrigin): string {
  switch (origin.type) {
    case 'repository':
      return redactor([])(`the chart ${origin.name} of ${origin.repository}`);
    case 'oci':
      return redactor([])(`the chart ${[...inside(origin), origin.url].join(' of ')}`);
    case 'download':
      return redactor([])(`the file ${shownUrl(origin.url)}`);
    case 'git':
      return `the chart ${[...inside(origin), origin.path].join(' of ')} in Git`;
  }
}
