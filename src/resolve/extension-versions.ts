import semver from 'semver';
import type { Extension, ExtensionVersion, OciSource } from '../api/index.ts';
import { parseRange } from './range.ts';
import { plainVersion } from './when.ts';

/** A version of an extension that could be installed, or could not. */
export interface Candidate {
  app: string;
  source: ExtensionVersion['source'];
  /** Kubernetes versions that it is for, for people. */
  kubernetes: string | undefined;
  fits: boolean;
  from: string | undefined;
  deprecated: string | undefined;
}

/** The tags of a registry, or why they are not known (yet). */
export type Tags = (source: OciSource) => readonly string[] | { unknown: string };

export interface Candidates {
  /** Newest first. */
  all: Candidate[];
  /** Why there may be more. */
  unknown: string | undefined;
}

/** Every version that an extension offers, each measured against the cluster's Kubernetes version (`gitVersion`). */
export function candidatesOf(extension: Pick<Extension, 'spec'>, kubernetes: string, tags: Tags): Candidates {
  const found: Candidate[] = [];
  let unknown: string | undefined;
  for (const version of extension.spec.versions) {
    if (version.tagsFollow === undefined) found.push(listed(version, kubernetes));
    else if (version.source.oci !== undefined) {
      const answer = tags(version.source.oci);
      if ('unknown' in answer) unknown ??= answer.unknown;
      else found.push(...following(version, version.source.oci, answer, kubernetes));
    }
  }
  return { all: newestFirst(found), unknown };
}

function listed(version: ExtensionVersion, kubernetes: string): Candidate {
  const { app = '', source, kubernetes: range, from, deprecated } = version;
  return { app, source, kubernetes: range, fits: range === undefined || isIn(range, kubernetes), from, deprecated };
}

const TAG = /^v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,6}))?(?:[-+_][0-9A-Za-z.+_-]*)?$/;

/** One for each minor version of Kubernetes that a tag names: the highest of its tags. What is no version is passed over. */
function following(
  version: ExtensionVersion,
  oci: OciSource,
  tags: readonly string[],
  kubernetes: string,
): Candidate[] {
  const byMinor = new Map<string, string>();
  for (const tag of tags) {
    const [, major, minor] = TAG.exec(tag) ?? [];
    if (major === undefined || minor === undefined) continue;
    const key = `${Number(major)}.${Number(minor)}`;
    const best = byMinor.get(key);
    if (best === undefined || compareApps(tag, best) > 0) byMinor.set(key, tag);
  }
  const { from, deprecated } = version;
  return [...byMinor].map(([minor, tag]) => ({
    app: tag,
    // As versions are written: a tag can't hold a plus.
    source: { oci: { ...oci, version: tag.replace('_', '+') } },
    kubernetes: minor,
    fits: minorOf(kubernetes) === minor,
    from,
    deprecated,
  }));
}

function minorOf(kubernetes: string): string | undefined {
  return plainVersion(kubernetes)?.split('.').slice(0, 2).join('.');
}

function isIn(range: string, kubernetes: string): boolean {
  const plain = plainVersion(kubernetes);
  const parsed = parseRange(range);
  return plain !== undefined && parsed.ok && parsed.range.includes(plain);
}

/** Versions first, by their order; then what is none, the last that is listed first. */
function newestFirst(candidates: readonly Candidate[]): Candidate[] {
  const [versions, others] = [candidates.filter(isVersion), candidates.filter((one) => !isVersion(one))];
  return [...versions.toReversed().sort((a, b) => compareApps(b.app, a.app)), ...others.toReversed()];
}

function isVersion({ app }: Candidate): boolean {
  return asVersion(app) !== undefined;
}

/** As a version, however short: `v0.4` is 0.4.0. */
export function asVersion(app: string): semver.SemVer | undefined {
  const [, major, minor = '0', patch = '0', rest = ''] = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?([-+_].*)?$/.exec(app) ?? [];
  if (major === undefined) return undefined;
  return semver.parse(`${Number(major)}.${Number(minor)}.${Number(patch)}${rest.replaceAll('_', '+')}`) ?? undefined;
}

/** Above zero when `a` is newer. */
export function compareApps(a: string, b: string): number {
  const [left, right] = [asVersion(a), asVersion(b)];
  return left === undefined || right === undefined ? 0 : semver.compareBuild(left, right);
}

/** Whether an application version is in a range, or is literally what it says. */
export function appIsIn(range: string, app: string): boolean {
  if (sameApp(range, app)) return true;
  const parsed = parseRange(range);
  const version = asVersion(app);
  return parsed.ok && version !== undefined && parsed.range.includes(version.version);
}

/** `0.4.0` and `v0.4.0` are one version. */
export function sameApp(a: string, b: string): boolean {
  return a.replace(/^v(?=\d)/, '') === b.replace(/^v(?=\d)/, '');
}
