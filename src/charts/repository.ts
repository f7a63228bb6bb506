import { createReadStream } from 'node:fs';
import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EspalierError, isError, messageOf } from '../api/index.ts';
import { describeBytes } from '../git/limits.ts';
import { pickVersion } from '../resolve/pick-version.ts';
import type { ChartCache } from './cache.ts';
import { authorizationOf, type ChartCredentials } from './credentials.ts';
import { download } from './download.ts';
import { refused } from './errors.ts';
import { type IndexedVersion, readEntry, versionOf } from './index-entry.ts';
import { scanIndex } from './index-scan.ts';
import type { ChartLimits } from './limits.ts';
import { parsePlace } from './place.ts';
import type { Share } from './share.ts';
import { listIn, loadText, mapIn } from './text-yaml.ts';
import { type Access, complain, type Transport } from './transport.ts';
import { trimFolder } from './trim.ts';

export interface RepositoryOrigin {
  repository: string;
  name: string;
  version?: string | undefined;
  credentials: ChartCredentials;
}

export interface RepositoryParts {
  dir: string;
  transport: Transport;
  cache: ChartCache;
  share: Share;
  limits: ChartLimits;
  now: () => number;
}

/** How long an index that was just looked at counts as new for the other charts in it. */
const INDEX_FRESH_MS = 60_000;
const MAX_LISTS = 200;
/** An index and its tag for each repository. */
const MAX_INDEX_FILES = 400;
const MAX_INDEX_BYTES = 1_000_000_000;
/** An index that is written in an unusual way is read as a whole, up to this size. */
const WHOLE_PARSE_BYTES = 4 * 1024 * 1024;

/** Repositories of the classic kind: a folder on a web server with an index.yaml in it. */
export class Repositories {
  readonly #parts: RepositoryParts;
  readonly #checked = new Map<string, number>();
  readonly #lists = new Map<string, Promise<IndexedVersion[]>>();

  constructor(parts: RepositoryParts) {
    this.#parts = parts;
  }

  /** The version that is meant now. Asks for the index, with its ETag; `fresh` even when it was asked for a moment ago. */
  async find(origin: RepositoryOrigin, signal: AbortSignal, fresh: boolean): Promise<IndexedVersion> {
    try {
      return await this.#pick(origin, await this.#index(origin, signal, fresh ? 0 : INDEX_FRESH_MS));
    } catch (error) {
      if (fresh || !isError(error, 'ChartNotFound')) throw error;
      // What is not in an index of a moment ago may have been published since: people push a chart, then its use.
      return await this.#pick(origin, await this.#index(origin, signal, 0));
    }
  }

  /** The entry with that id, from the index on disk when it is in there. */
  async entry(origin: RepositoryOrigin, version: string, id: string, signal: AbortSignal): Promise<IndexedVersion> {
    for (const age of [Number.POSITIVE_INFINITY, 0]) {
      const versions = await this.#versions(origin, await this.#index(origin, signal, age));
      const found = versions.find((each) => each.version === version && idOf(each) === id);
      if (found !== undefined) return found;
    }
    throw new EspalierError(
      'ChartFetchFailed',
      `The chart ${origin.name} ${version} in ${origin.repository} changed since it was looked up; it is looked up again.`,
      { data: { changed: true } },
    );
  }

  /** Writes an archive, or what else lies at the address of one with `suffix` behind it, to a file. */
  async download(
    origin: RepositoryOrigin,
    entry: IndexedVersion,
    file: string,
    signal: AbortSignal,
    suffix = '',
  ): Promise<string> {
    const { transport, limits } = this.#parts;
    const { base, access } = this.#place(origin);
    const url = parsePlace(entry.url, transport.policy, base);
    if (base.protocol === 'https:' && url.protocol !== 'https:') {
      throw refused(
        `The repository ${origin.repository} keeps ${origin.name} ${entry.version} at an address without https; it is not taken from there.`,
      );
    }
    url.pathname += suffix;
    const authorization = url.origin === access.origin ? authorizationOf(access.credentials) : undefined;
    const answer = await transport.get({ url, headers: { accept: '*/*' }, authorization, signal }, access);
    const what = `${suffix === '' ? 'chart' : `file ${suffix} of the chart`} ${origin.name} ${entry.version} at ${url.origin}${url.pathname}`;
    if (answer.status !== 200) return complain(answer, what, authorization !== undefined);
    return (await download(answer, file, limits.archiveBytes, `The ${what}`)).digest;
  }

  async #pick(origin: RepositoryOrigin, index: string): Promise<IndexedVersion> {
    const { repository, name, version = '*' } = origin;
    const versions = await this.#versions(origin, index);
    if (versions.length === 0) {
      throw new EspalierError('ChartNotFound', `The repository ${repository} has no chart ${name}; check the name.`);
    }
    const picked = pickVersion(
      versions.map((each) => each.version),
      version,
    );
    const found = picked.ok ? versions.find((each) => each.version === picked.version) : undefined;
    if (found !== undefined) return found;
    const why = picked.ok ? '' : ` ${picked.message}`;
    throw new EspalierError('ChartNotFound', `The repository ${repository} has no fitting version of ${name}.${why}`);
  }

  /** A large index is read once for each chart, not for each look. */
  #versions(origin: RepositoryOrigin, index: string): Promise<IndexedVersion[]> {
    const key = `${index} ${origin.name}`;
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const reading = this.#read(origin, index);
    this.#lists.set(key, reading);
    reading.catch(() => this.#lists.delete(key));
    for (const oldest of this.#lists.keys()) {
      if (this.#lists.size <= MAX_LISTS) break;
      this.#lists.delete(oldest);
    }
    return reading;
  }

  async #read({ repository, name }: RepositoryOrigin, index: string): Promise<IndexedVersion[]> {
    const { entryBytes } = this.#parts.limits;
    try {
      const found = await scanIndex(
        createReadStream(index, { encoding: 'utf8', highWaterMark: 256 * 1024 }),
        name,
        entryBytes,
      );
      if (found.layout === 'too large') {
        throw refused(
          `The index of ${repository} says more than ${describeBytes(entryBytes)} about ${name}; ask its owner to prune it.`,
        );
      }
      if (found.layout === 'other') return await readWhole(index, name, repository);
      if (found.text === undefined) return [];
      // A part that can't be read alone may refer to another one.
      return await readEntry(found.text, found.layout).catch(() => readWhole(index, name, repository));
    } catch (error) {
      if (error instanceof EspalierError) throw error;
      throw refused(`The index of ${repository} can't be read: ${messageOf(error).split('\n')[0]}.`);
    }
  }

  #place(origin: RepositoryOrigin): { base: URL; access: Access } {
    const base = parsePlace(origin.repository, this.#parts.transport.policy);
    if (!base.pathname.endsWith('/')) base.pathname += '/';
    return { base, access: { credentials: origin.credentials, origin: base.origin } };
  }

  /** The file of an index that was confirmed at most `maxAge` ago. */
  async #index(origin: RepositoryOrigin, signal: AbortSignal, maxAge: number): Promise<string> {
    const { dir, cache, share, now } = this.#parts;
    const { base, access } = this.#place(origin);
    const key = await cache.key('index', base.href, access.credentials);
    const file = join(dir, 'indexes', `${key}.yaml`);
    const checked = maxAge === Number.POSITIVE_INFINITY ? 0 : (this.#checked.get(key) ?? Number.NEGATIVE_INFINITY);
    if (now() - checked < maxAge && (await stat(file).catch(() => undefined)) !== undefined) return file;
    await share.run(`index ${key}`, signal, async (step) => {
      await this.#refresh(base, access, file, step);
      this.#checked.set(key, now());
    });
    return file;
  }

  async #refresh(base: URL, access: Access, file: string, signal: AbortSignal): Promise<void> {
    const { transport, cache, limits } = this.#parts;
    const url = new URL('index.yaml', base);
    url.search = base.search;
    const known = await knownTag(file);
    const authorization = authorizationOf(access.credentials);
    const headers = { accept: '*/*', 'accept-encoding': 'gzip', ...known };
    const answer = await transport.get({ url, headers, authorization, signal }, access);
    const what = `index of charts at ${url.origin}${url.pathname}`;
    if (answer.status === 304 && Object.keys(known).length > 0) {
      for await (const _ of answer.body);
      const at = new Date();
      for (const used of [file, `${file}.tag`]) await utimes(used, at, at);
      return;
    }
    if (answer.status !== 200) return complain(answer, what, authorization !== undefined);
    const temporary = await cache.temporary();
    try {
      await download(answer, temporary, limits.indexBytes, `The ${what}`, { unzip: true });
      // The tag goes first and comes last: an index must never stand under the tag of another.
      await rm(`${file}.tag`, { force: true });
      await rename(temporary, file);
      for (const key of this.#lists.keys()) if (key.startsWith(`${file} `)) this.#lists.delete(key);
      await trimFolder(join(file, '..'), MAX_INDEX_FILES, MAX_INDEX_BYTES);
      const { etag = '', 'last-modified': modified = '' } = answer.headers;
      if (etag !== '' || modified !== '')
        await writeFile(`${file}.tag`, JSON.stringify({ etag, modified }), { mode: 0o600 });
    } finally {
      await rm(temporary, { force: true });
    }
  }
}

/** What tells that the chart behind a version changed. */
export function idOf({ version, digest, url, created }: IndexedVersion): string {
  return digest ?? `unsigned:${JSON.stringify([version, url, created])}`;
}

/** The headers that ask for an index only if it changed; none when there is no whole one here. */
async function knownTag(file: string): Promise<Record<string, string>> {
  try {
    await stat(file);
    const { etag, modified } = mapIn(JSON.parse(await readFile(`${file}.tag`, 'utf8')));
    return {
      ...(typeof etag === 'string' && etag !== '' ? { 'if-none-match': etag } : {}),
      ...(typeof modified === 'string' && modified !== '' ? { 'if-modified-since': modified } : {}),
    };
  } catch {
    return {};
  }
}

async function readWhole(index: string, name: string, repository: string): Promise<IndexedVersion[]> {
  const { size } = await stat(index);
  if (size > WHOLE_PARSE_BYTES) {
    throw refused(
      `The index of ${repository} is large and not written as Helm writes it, so it can't be read in parts; make it with \`helm repo index\`.`,
    );
  }
  const { entries } = mapIn(loadText(await readFile(index, 'utf8')));
  if (typeof entries !== 'object' || entries === null) {
    throw refused(`What ${repository} gives as index.yaml has no \`entries\`: it is no repository of charts.`);
  }
  return listIn(mapIn(entries)[name]).flatMap(versionOf);
}
