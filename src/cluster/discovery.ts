import { EspalierError, isError } from '../api/index.ts';
import {
  AGGREGATED_ACCEPT,
  type GroupVersion,
  readAggregated,
  readGroupVersions,
  readResourceList,
} from './discovery-documents.ts';
import type { Answer } from './exchange.ts';
import { answerFailure, badAnswer } from './failure.ts';
import type { ApiResource } from './kubeclient.ts';
import { type Clock, pause, unlessAborted } from './timing.ts';

/** GET of a discovery path: answers of 200, 304 and 404 are given back, anything else is thrown. */
export type Fetch = (path: string, headers: Record<string, string>) => Promise<Answer>;

export interface Discovery {
  /** The look is shared: aborting ends the wait for it, not the look. */
  resource(apiVersion: string, kind: string, signal?: AbortSignal): Promise<ApiResource>;
  all(partial: boolean): Promise<ApiResource[]>;
  /** What is cached for this group version proved wrong: look again before the next answer. */
  distrust(apiVersion: string): void;
}

interface Snapshot {
  /** When the look that it stems from began. */
  at: number;
  versions: Map<string, GroupVersion>;
}

/** One look; whoever asked before it begins may share it. */
interface Turn {
  begun: number;
}

/** Looks that may follow each other at once, so that a new CRD is known at once; then one a second. */
const BURST = 5;
const REFILL_MS = 1_000;
const PARALLEL = 16;
/** A list of everything may be this old. */
const LIST_FRESH_MS = 10_000;

/**
 * What the API server serves, cached. A kind that is not in the cache makes it look again, and an answer of "unknown"
 * is never older than the question. Lookers share one look.
 */
export function createDiscovery(fetch: Fetch, clock: Clock): Discovery {
  const etags = new Map<string, { etag: string; versions: GroupVersion[] }>();
  let snapshot: Snapshot | undefined;
  let looking: { turn: Turn; result: Promise<Snapshot> } | undefined;
  let tokens = BURST;
  let filledAt = clock.now();

  /** A snapshot whose look began at `since` or later. */
  async function lookedSince(since: number): Promise<Snapshot> {
    if (snapshot !== undefined && snapshot.at >= since) return snapshot;
    if (looking !== undefined && looking.turn.begun >= since) return looking.result;
    const turn: Turn = { begun: Number.POSITIVE_INFINITY };
    const result = takeTurn(turn, looking?.result);
    const mine = { turn, result };
    looking = mine;
    try {
      return await result;
    } finally {
      if (looking === mine) looking = undefined;
    }
  }

  async function takeTurn(turn: Turn, before: Promise<Snapshot> | undefined): Promise<Snapshot> {
    await before?.catch(() => {});
    await takeToken();
    turn.begun = clock.now();
    const versions = await look(fetch, etags);
    snapshot = { at: turn.begun, versions: new Map(versions.map((version) => [version.apiVersion, version])) };
    return snapshot;
  }

  async function takeToken(): Promise<void> {
    const now = clock.now();
    const earned = Math.floor((now - filledAt) / REFILL_MS);
    if (earned > 0) {
      tokens = Math.min(BURST, tokens + earned);
      filledAt += earned * REFILL_MS;
    }
    if (tokens > 0) {
      tokens--;
      return;
    }
    await pause(filledAt + REFILL_MS - now, clock);
    return takeToken();
  }

  async function search(asked: number, apiVersion: string, kind: string): Promise<ApiResource | undefined> {
    const fresh = await lookedSince(asked);
    return find(fresh, apiVersion, kind) ?? (await confirm(fetch, fresh, apiVersion, kind));
  }

  return {
    async resource(apiVersion, kind, signal) {
      const asked = clock.now();
      const known = find(snapshot, apiVersion, kind);
      if (known !== undefined) return known;
      const found = await unlessAborted(search(asked, apiVersion, kind), signal);
      if (found !== undefined) return found;
      throw new EspalierError(
        'KubeKindUnknown',
        `the API server does not serve ${kind} of ${apiVersion}: its CustomResourceDefinition is not installed, or not in this version`,
        { data: { apiVersion, kind } },
      );
    },
    async all(partial) {
      const { versions } = await lookedSince(clock.now() - LIST_FRESH_MS);
      const failing = [...versions.values()].filter((version) => version.failing);
      if (failing.length > 0 && !partial) throw unavailable(failing.map((version) => version.apiVersion).join(', '));
      return [...versions.values()].flatMap((version) => version.resources);
    },
    distrust(apiVersion) {
      snapshot?.versions.delete(apiVersion);
      etags.clear();
    },
  };
}

function find(snapshot: Snapshot | undefined, apiVersion: string, kind: string): ApiResource | undefined {
  return snapshot?.versions.get(apiVersion)?.resources.find((resource) => resource.kind === kind);
}

/**
 * Asks for the group version itself. The aggregated document has gaps while the server starts or an aggregated API is
 * down; this path then answers 503, and 404 only when it really serves no such thing.
 */
async function confirm(
  fetch: Fetch,
  snapshot: Snapshot,
  apiVersion: string,
  kind: string,
): Promise<ApiResource | undefined> {
  if (snapshot.versions.get(apiVersion)?.failing === true) throw unavailable(apiVersion);
  const path = versionPath(apiVersion);
  const answer = await fetch(path, {});
  if (answer.status === 404) return undefined;
  const resources = readResourceList(apiVersion, parse(answer, path));
  if (resources === undefined) throw badAnswer('discover', { path }, 'the answer is not an APIResourceList');
  const found = resources.find((resource) => resource.kind === kind);
  if (found !== undefined) snapshot.versions.set(apiVersion, { apiVersion, resources, failing: false });
  return found;
}

async function look(
  fetch: Fetch,
  etags: Map<string, { etag: string; versions: GroupVersion[] }>,
): Promise<GroupVersion[]> {
  const both = await Promise.all(['/api', '/apis'].map((path) => lookAt(fetch, path, etags)));
  return both.flat();
}

async function lookAt(
  fetch: Fetch,
  path: string,
  etags: Map<string, { etag: string; versions: GroupVersion[] }>,
): Promise<GroupVersion[]> {
  const held = etags.get(path);
  const answer = await fetch(path, {
    accept: AGGREGATED_ACCEPT,
    ...(held === undefined ? {} : { 'if-none-match': held.etag }),
  });
  if (answer.status === 304 && held !== undefined) return held.versions;
  if (answer.status !== 200) throw answerFailure('discover', { path }, answer);
  const document = parse(answer, path);
  const versions = readAggregated(document);
  const { etag } = answer.headers;
  if (versions !== undefined) {
    if (typeof etag === 'string') etags.set(path, { etag, versions });
    return versions;
  }
  const names = readGroupVersions(document);
  if (names === undefined) throw badAnswer('discover', { path }, 'the answer is not a discovery document');
  return lookOneByOne(fetch, names);
}

/** For servers before 1.26: one request a group version. One that fails is marked, the others count. */
async function lookOneByOne(fetch: Fetch, names: string[]): Promise<GroupVersion[]> {
  const versions: GroupVersion[] = [];
  const queue = [...names];
  await Promise.all(
    Array.from({ length: PARALLEL }, async () => {
      for (let apiVersion = queue.shift(); apiVersion !== undefined; apiVersion = queue.shift()) {
        versions.push(await lookAtVersion(fetch, apiVersion));
      }
    }),
  );
  return versions;
}

async function lookAtVersion(fetch: Fetch, apiVersion: string): Promise<GroupVersion> {
  const path = versionPath(apiVersion);
  const answer = await fetch(path, {}).catch((error: unknown) => {
    if (isError(error, 'KubeServerError', 'KubeTimedOut', 'KubeForbidden')) return undefined;
    throw error;
  });
  const resources = answer?.status === 200 ? readResourceList(apiVersion, parse(answer, path)) : undefined;
  // One that went away since it was listed is as unknowable as one that fails.
  return { apiVersion, resources: resources ?? [], failing: resources === undefined };
}

export function versionPath(apiVersion: string): string {
  const parts = apiVersion.split('/').map(encodeURIComponent).join('/');
  return apiVersion.includes('/') ? `/apis/${parts}` : `/api/${parts}`;
}

function parse(answer: Answer, path: string): unknown {
  try {
    return JSON.parse(answer.body);
  } catch {
    throw badAnswer('discover', { path }, 'the answer is not JSON');
  }
}

function unavailable(what: string): EspalierError {
  return new EspalierError(
    'KubeServerError',
    `the API server can't tell what ${what} serves: look at the Available condition of its APIService`,
    { data: { apiVersions: what } },
  );
}
