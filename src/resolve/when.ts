import { parseRange } from './range.ts';

/** What a declaration may ask of the cluster before it applies. */
export interface When {
  kubernetes?: string;
  /** Labels that this cluster must have. */
  cluster?: Readonly<Record<string, string>>;
  window?: unknown;
}

export interface ClusterFacts {
  /** `gitVersion` as the API server tells it; undefined while it is not known. */
  kubernetes: string | undefined;
  labels: Readonly<Record<string, string>>;
  /** Whether the maintenance window is open now; what has no window ignores it. */
  windowOpen: boolean;
}

/**
 * `inactive` means that it must not be on this cluster: what is there is removed. `waiting` means not now: what is there
 * stays as it is. A fact that isn't known is never taken for a no.
 */
export type Activity = { state: 'active' } | { state: 'inactive'; why: string } | { state: 'waiting'; why: string };

export function activityOf(when: When | undefined, facts: ClusterFacts): Activity {
  for (const [label, wanted] of Object.entries(when?.cluster ?? {})) {
    const actual = Object.hasOwn(facts.labels, label) ? facts.labels[label] : undefined;
    if (actual === wanted) continue;
    const found = actual === undefined ? `has no label ${label}` : `has ${label}=${actual}`;
    return { state: 'inactive', why: `it is for clusters with ${label}=${wanted}; this one ${found}` };
  }
  if (when?.kubernetes !== undefined) {
    const fit = fitsKubernetes(when.kubernetes, facts.kubernetes);
    if (fit.state !== 'active') return fit;
  }
  if (when?.window !== undefined && !facts.windowOpen) return { state: 'waiting', why: 'its window is closed' };
  return { state: 'active' };
}

function fitsKubernetes(range: string, version: string | undefined): Activity {
  const parsed = parseRange(range);
  if (!parsed.ok) return { state: 'waiting', why: parsed.message };
  const plain = plainVersion(version);
  if (plain === undefined) return { state: 'waiting', why: `the cluster's Kubernetes version is not known yet` };
  if (parsed.range.includes(plain)) return { state: 'active' };
  return { state: 'inactive', why: `it is for Kubernetes ${range}; this cluster runs ${version}` };
}

/**
 * A server's version without what its vendor appends: `v1.36.3-gke.100`, `v1.36.3+k3s1` and `v1.36.0-rc.1` all count as
 * the release they name, or no range would include a vendor's build.
 */
export function plainVersion(gitVersion: string | undefined): string | undefined {
  const [, major, minor, patch] = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(gitVersion ?? '') ?? [];
  if (major === undefined || minor === undefined) return undefined;
  return `${Number(major)}.${Number(minor)}.${Number(patch ?? 0)}`;
}
