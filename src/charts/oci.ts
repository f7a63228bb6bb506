import { createHash } from 'node:crypto';
import { EspalierError } from '../api/index.ts';
import { discard } from '../git/http.ts';
import { pickVersion } from '../resolve/pick-version.ts';
import { isChartVersion, isExactVersion } from './chart-yaml.ts';
import type { ChartCredentials } from './credentials.ts';
import { download, readAll } from './download.ts';
import { refused } from './errors.ts';
import type { ChartLimits } from './limits.ts';
import { answerChallenge, type Grant, parseJson } from './oci-auth.ts';
import { type OciPlace, parseOci, parsePlace } from './place.ts';
import { listIn, mapIn } from './text-yaml.ts';
import { type Access, type Answer, complain, type Transport } from './transport.ts';

export interface OciOrigin {
  url: string;
  version?: string | undefined;
  /** The chart is one file of an artifact of several. */
  inside?: string | undefined;
  credentials: ChartCredentials;
}

export interface Layer {
  mediaType: string;
  digest: string;
  annotations: Record<string, string>;
}

/** The files of an artifact, by their titles. */
export interface ArtifactFiles {
  /** Digest of its manifest. */
  id: string;
  paths: string[];
  /** Undefined for a path that is not among them. */
  read(path: string): Promise<Uint8Array | undefined>;
}

export interface Manifest {
  digest: string;
  configType: string;
  layers: Layer[];
}

export const CONTENT_LAYER = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';
export const PROVENANCE_LAYER = 'application/vnd.cncf.helm.chart.provenance.v1.prov';
const CONFIG = 'application/vnd.cncf.helm.config.v1+json';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const TITLE = 'org.opencontainers.image.title';
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const MANIFEST_BYTES = 4 * 1024 * 1024;
const MAX_PAGES = 200;
const MAX_TAGS = 50_000;

/** Charts in OCI registries. */
export class Registries {
  readonly #transport: Transport;
  readonly #limits: ChartLimits;
  readonly #now: () => number;
  readonly #grants = new Map<string, Grant>();

  constructor(transport: Transport, limits: ChartLimits, now: () => number) {
    this.#transport = transport;
    this.#limits = limits;
    this.#now = now;
  }

  /**
   * Which tag and manifest a version or range means now. A tag of exactly that name comes first, also one that is no
   * whole version, such as v1.34.
   */
  async find(origin: OciOrigin, signal: AbortSignal): Promise<{ version: string; id: string }> {
    const { version = '*' } = origin;
    if (isChartVersion(version)) {
      const id = await this.#digestOf(origin, tagOf(version), signal);
      if (id !== undefined) return { version, id };
    }
    // What a range may choose: a tag such as `1.2` or `latest` moves and is no version of a chart.
    const tags = (await this.tags(origin, signal)).filter((tag) => isExactVersion(tag.replace('_', '+')));
    const picked = pickVersion(tags, version);
    if (!picked.ok) {
      throw new EspalierError('ChartNotFound', `${origin.url} has no fitting version. ${picked.message}`);
    }
    const manifest = await this.manifest(origin, picked.version, signal);
    if (manifest === undefined) {
      throw new EspalierError(
        'ChartFetchFailed',
        `${origin.url} lists the tag ${picked.version} but does not have it.`,
      );
    }
    return { version: picked.version.replace('_', '+'), id: manifest.digest };
  }

  /** A manifest by tag or digest; undefined when the registry has none. Its digest is computed, not believed. */
  async manifest(origin: OciOrigin, reference: string, signal: AbortSignal): Promise<Manifest | undefined> {
    const place = this.#place(origin);
    const path = `/v2/${place.repository}/manifests/${reference}`;
    const answer = await this.#get(origin, place, path, { accept: MANIFEST }, signal);
    if (answer.status === 404) {
      await discard(answer.body);
      return undefined;
    }
    const what = `manifest ${reference} of ${origin.url}`;
    if (answer.status !== 200) return complain(answer, what, hasLogin(origin));
    const bytes = await readAll(answer, MANIFEST_BYTES, `The ${what}`);
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    if (DIGEST.test(reference) && digest !== reference) {
      throw new EspalierError(
        'ChartFetchFailed',
        `${place.host} gave another manifest of ${origin.url} than ${reference}.`,
      );
    }
    const { config, layers } = mapIn(parseJson(bytes));
    return {
      digest,
      configType: String(mapIn(config).mediaType ?? ''),
      layers: listIn(layers).map((item) => {
        const { mediaType, digest: of, annotations } = mapIn(item);
        const notes: Record<string, string> = {};
        for (const [key, value] of Object.entries(mapIn(annotations))) {
          if (typeof value === 'string') notes[key] = value;
        }
        return { mediaType: String(mediaType ?? ''), digest: String(of ?? ''), annotations: notes };
      }),
    };
  }

  /** What a tag points at now. HEAD does not count as a pull where pulls are counted; what is fetched later is proven. */
  async #digestOf(origin: OciOrigin, tag: string, signal: AbortSignal): Promise<string | undefined> {
    const place = this.#place(origin);
    const path = `/v2/${place.repository}/manifests/${tag}`;
    const { status, headers, body } = await this.#get(origin, place, path, { accept: MANIFEST }, signal, 'HEAD');
    await discard(body);
    const digest = headers['docker-content-digest'] ?? '';
    if (status === 200 && DIGEST.test(digest)) return digest;
    return status === 404 ? undefined : (await this.manifest(origin, tag, signal))?.digest;
  }

  /** The manifest of a chart, and in it the layer that is the archive. */
  async chartLayers(
    origin: OciOrigin,
    id: string,
    signal: AbortSignal,
  ): Promise<{ content: Layer; provenance: Layer | undefined }> {
    const manifest = await this.manifest(origin, id, signal);
    if (manifest === undefined) {
      throw new EspalierError('ChartNotFound', `${origin.url} no longer has the manifest ${id}; push the chart again.`);
    }
    const { inside } = origin;
    if (inside !== undefined) {
      const content = manifest.layers.find((layer) => layer.annotations[TITLE] === inside);
      if (content === undefined) throw refused(`${origin.url} holds no ${inside}; check source.oci.inside.`);
      return { content, provenance: manifest.layers.find((layer) => layer.annotations[TITLE] === `${inside}.prov`) };
    }
    const content = manifest.layers.find((layer) => layer.mediaType === CONTENT_LAYER);
    if (manifest.configType !== CONFIG || content === undefined) {
      throw refused(
        `${origin.url} is no Helm chart but ${describeType(manifest.configType)}; push it with \`helm push\`.`,
      );
    }
    return { content, provenance: manifest.layers.find((layer) => layer.mediaType === PROVENANCE_LAYER) };
  }

  /** An artifact of several files, each of which is fetched when it is asked for. */
  async files(origin: OciOrigin, id: string, signal: AbortSignal): Promise<ArtifactFiles> {
    const manifest = await this.manifest(origin, id, signal);
    if (manifest === undefined)
      throw new EspalierError('ChartNotFound', `${origin.url} no longer has the manifest ${id}; push it again.`);
    const layers = new Map(manifest.layers.map((layer) => [layer.annotations[TITLE] ?? layer.digest, layer]));
    return {
      id,
      paths: [...layers.keys()].sort(),
      read: async (path) => {
        const layer = layers.get(path);
        return layer && (await this.read(origin, layer, this.#limits.archiveBytes, signal));
      },
    };
  }

  /** Writes a layer to a file and proves that it is the one. */
  async download(origin: OciOrigin, layer: Layer, file: string, signal: AbortSignal): Promise<string> {
    const answer = await this.#blob(origin, layer, signal);
    const { digest } = await download(answer, file, this.#limits.archiveBytes, `The chart ${origin.url}`);
    if (digest !== layer.digest) throw this.#other(origin, layer);
    return digest;
  }

  async read(origin: OciOrigin, layer: Layer, limit: number, signal: AbortSignal): Promise<Buffer> {
    const bytes = await readAll(await this.#blob(origin, layer, signal), limit, `A part of ${origin.url}`);
    if (`sha256:${createHash('sha256').update(bytes).digest('hex')}` !== layer.digest) throw this.#other(origin, layer);
    return bytes;
  }

  async #blob(origin: OciOrigin, layer: Layer, signal: AbortSignal): Promise<Answer> {
    if (!DIGEST.test(layer.digest))
      throw refused(`The manifest of ${origin.url} names no sha256 digest for its content.`);
    const place = this.#place(origin);
    const answer = await this.#get(origin, place, `/v2/${place.repository}/blobs/${layer.digest}`, {}, signal);
    return answer.status === 200
      ? answer
      : complain(answer, `content ${layer.digest} of ${origin.url}`, hasLogin(origin));
  }

  /** Every tag that there is, however it is called. */
  async tags(origin: OciOrigin, signal: AbortSignal): Promise<string[]> {
    const place = this.#place(origin);
    const tags: string[] = [];
    let path: string | undefined = `/v2/${place.repository}/tags/list?n=1000`;
    for (let pages = 0; path !== undefined; pages += 1) {
      const answer = await this.#get(origin, place, path, { accept: 'application/json' }, signal);
      if (answer.status !== 200) return complain(answer, `chart ${origin.url}`, hasLogin(origin));
      const { tags: page } = mapIn(
        parseJson(await readAll(answer, MANIFEST_BYTES, `The list of tags of ${origin.url}`)),
      );
      for (const tag of listIn(page)) if (typeof tag === 'string') tags.push(tag);
      path = this.#next(answer, place);
      if (path !== undefined && (pages >= MAX_PAGES || tags.length > MAX_TAGS)) {
        throw refused(`${origin.url} has more than ${MAX_TAGS} tags; give an exact version.`);
      }
    }
    return tags;
  }

  /** Where the list goes on: `</v2/…>; rel="next"`, on the same host. */
  #next(answer: Answer, place: OciPlace): string | undefined {
    const [, target] = /<([^>]+)>\s*;\s*rel="?next"?/.exec(answer.headers.link ?? '') ?? [];
    if (target === undefined) return undefined;
    const url = parsePlace(target, this.#transport.policy, new URL(place.origin));
    if (url.origin !== place.origin)
      throw refused(`The list of tags of ${place.host} goes on at ${url.origin}; it is not followed there.`);
    return `${url.pathname}${url.search}`;
  }

  #place(origin: OciOrigin): OciPlace {
    return parseOci(origin.url, this.#transport.policy, origin.credentials.ca !== undefined);
  }

  async #get(
    origin: OciOrigin,
    place: OciPlace,
    path: string,
    headers: Record<string, string>,
    signal: AbortSignal,
    method: 'GET' | 'HEAD' = 'GET',
  ): Promise<Answer> {
    const { credentials } = origin;
    const access: Access = { credentials, origin: place.origin };
    const url = new URL(path, place.origin);
    const key = createHash('sha256')
      .update(JSON.stringify([place.origin, place.repository, credentials]))
      .digest('hex');
    const granted = this.#grants.get(key);
    const valid = granted !== undefined && granted.until > this.#now() ? granted.authorization : undefined;
    const authorization =
      valid ?? (credentials.bearerToken === undefined ? undefined : `Bearer ${credentials.bearerToken}`);
    const first = await this.#transport.get({ url, method, headers, authorization, signal }, access);
    // Only the registry itself may ask who we are, not a store of blobs that it leads to.
    if (first.status !== 401 || first.url.origin !== place.origin) return first;
    const grant = await answerChallenge(this.#transport, access, place.repository, first, signal, this.#now());
    if (grant === undefined || grant.authorization === authorization) return first;
    await discard(first.body);
    this.#remember(key, grant);
    return this.#transport.get({ url, method, headers, authorization: grant.authorization, signal }, access);
  }

  #remember(key: string, grant: Grant): void {
    this.#grants.set(key, grant);
    for (const [known, { until }] of this.#grants) {
      if (until < this.#now() || this.#grants.size > 1000) this.#grants.delete(known);
    }
  }

  #other(origin: OciOrigin, layer: Layer): EspalierError {
    return new EspalierError(
      'ChartFetchFailed',
      `${origin.url} gave other content than its digest ${layer.digest} says.`,
    );
  }
}

/** A tag can't hold a plus. */
export function tagOf(version: string): string {
  return version.replace('+', '_');
}

function hasLogin({ credentials }: OciOrigin): boolean {
  return credentials.bearerToken !== undefined || credentials.username !== undefined;
}

function describeType(type: string): string {
  const plain = type.replace(/[^\w/+.-]/g, '').slice(0, 80);
  return plain === '' ? 'something else' : plain;
}
