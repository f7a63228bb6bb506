import { describeRef, type KubeObject, type ObjectRef, refOf } from '../api/index.ts';
import { GENERATED_LIVES, LIVES_KNOWN_UNTIL } from './api-lives.generated.ts';
import { type ApiLife, OLDER_LIVES } from './api-lives.ts';

/** A release of Kubernetes that something is measured against. */
export interface KubernetesTarget {
  /** `1.37`: as releases are named. */
  release: string;
  /** What its API server would say of itself: `v1.37.0`, or the patch that was named. */
  gitVersion: string;
  minor: number;
}

/** An object of a version that a release no longer serves, or that it serves for a while yet. */
export interface ApiFinding {
  state: 'removed' | 'deprecated';
  ref: ObjectRef;
  message: string;
  /** Releases, such as `1.25`. */
  deprecatedIn: string | undefined;
  removedIn: string | undefined;
  /** The apiVersion to use instead; with a kind behind it where that changes too. */
  replacement: string | undefined;
}

/** Reads `1.37`, `v1.37` and `1.37.2`; undefined for anything else. */
export function parseTarget(text: string): KubernetesTarget | undefined {
  const [, minor, patch = '0'] = /^v?1\.(\d{1,3})(?:\.(\d{1,3}))?$/.exec(text) ?? [];
  if (minor === undefined) return undefined;
  return { release: `1.${Number(minor)}`, gitVersion: `v1.${Number(minor)}.${Number(patch)}`, minor: Number(minor) };
}

/** The minor version in what an API server says of itself (`v1.36.3-gke.1`). */
export function minorOf(gitVersion: string): number | undefined {
  const minor = /^v?1\.(\d+)/.exec(gitVersion)?.[1];
  return minor === undefined ? undefined : Number(minor);
}

/** What of these objects the release does not serve, and what it serves as deprecated. Kinds of nobody but Kubernetes are known. */
export function apiFindings(objects: readonly KubeObject[], minor: number): ApiFinding[] {
  return objects.flatMap((object) => {
    const life = lifeOf(object.apiVersion, object.kind);
    if (life?.removed !== undefined && life.removed <= minor) return [finding('removed', object, life)];
    if (life?.deprecated !== undefined && life.deprecated <= minor) return [finding('deprecated', object, life)];
    return [];
  });
}

/** Whether the release serves the version of the kind. What the table does not know is taken to be served. */
export function isServedIn(minor: number, apiVersion: string, kind: string): boolean {
  const life = lifeOf(apiVersion, kind);
  return life === undefined || (life.introduced <= minor && (life.removed === undefined || minor < life.removed));
}

/** The stable versions of kinds that `to` serves and `from` did not yet. Others have to be switched on. */
export function introducedBetween(from: number, to: number): { apiVersion: string; kind: string }[] {
  return Object.entries(GENERATED_LIVES).flatMap(([apiVersion, kinds]) =>
    Object.entries(kinds)
      .filter(([, { introduced }]) => /(^|\/)v\d+$/.test(apiVersion) && introduced > from && introduced <= to)
      .map(([kind]) => ({ apiVersion, kind })),
  );
}

/** What should be said with every answer about a release that the table was made before. */
export function limitOfKnowledge(minor: number): string | undefined {
  if (minor <= LIVES_KNOWN_UNTIL) return undefined;
  return `which API versions Kubernetes 1.${minor} no longer serves is known as it was decided when 1.${LIVES_KNOWN_UNTIL} came out; read its release notes too`;
}

function lifeOf(apiVersion: string, kind: string): ApiLife | undefined {
  for (const lives of [GENERATED_LIVES, OLDER_LIVES]) {
    const kinds = Object.hasOwn(lives, apiVersion) ? lives[apiVersion] : undefined;
    if (kinds !== undefined && Object.hasOwn(kinds, kind)) return kinds[kind];
  }
  return undefined;
}

function finding(state: ApiFinding['state'], object: KubeObject, life: ApiLife): ApiFinding {
  const { deprecated, removed, replacement } = life;
  const ref = refOf(object);
  const advice = replacement === undefined ? 'nothing takes its place' : `use ${replacement}`;
  const fate =
    state === 'removed'
      ? `which Kubernetes no longer serves since 1.${removed}`
      : `deprecated since 1.${deprecated}${removed === undefined ? '' : ` and gone in 1.${removed}`}`;
  return {
    state,
    ref,
    message: `${describeRef(ref)} is ${ref.apiVersion}, ${fate}: ${advice}`,
    deprecatedIn: release(deprecated),
    removedIn: release(removed),
    replacement,
  };
}

function release(minor: number | undefined): string | undefined {
  return minor === undefined ? undefined : `1.${minor}`;
}
