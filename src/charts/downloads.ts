import { createHash } from 'node:crypto';
import { readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { EspalierError } from '../api/index.ts';
import { discard } from '../git/http.ts';
import type { FileTree } from '../git/tree.ts';
import { placeIn, readFiles } from './archive-tree.ts';
import type { ChartCache } from './cache.ts';
import { authorizationOf, type ChartCredentials } from './credentials.ts';
import { download } from './download.ts';
import type { ChartLimits } from './limits.ts';
import { parsePlace } from './place.ts';
import type { Share } from './share.ts';
import { type Access, complain, type Transport } from './transport.ts';
import { trimFolder } from './trim.ts';

export interface DownloadOrigin {
  url: string;
  credentials: ChartCredentials;
}

export interface DownloadsParts {
  cacheDir: string;
  maxBytes: number;
  transport: Transport;
  cache: ChartCache;
  share: Share;
  limits: ChartLimits;
}

/** Files of a tree, and where in it they are. */
export interface Folder {
  tree: FileTree;
  path: string;
}

const MAX_FILES = 1000;

/** Files from web servers, each on disk once by its digest. Whoever can't fetch one can't have it from here either. */
export class Downloads {
  readonly #parts: DownloadsParts;

  constructor(parts: DownloadsParts) {
    this.#parts = parts;
  }

  /** The digest of what lies there now. Sends its tag, so that what did not change is not sent again. */
  async find(origin: DownloadOrigin, signal: AbortSignal): Promise<string> {
    const { cache, share } = this.#parts;
    const key = await cache.key('download', origin.url, origin.credentials);
    return share.run(`download ${key}`, signal, (shared) => this.#ask(origin, key, shared));
  }

  /** The file with that digest; fetched again where the cache no longer has it. */
  async read(origin: DownloadOrigin, digest: string, signal: AbortSignal): Promise<Buffer> {
    const { cache } = this.#parts;
    const isKnown = (await cache.note(await this.#permit(origin, digest))) !== undefined;
    const kept = isKnown ? await this.#kept(digest) : undefined;
    if (kept !== undefined) return kept;
    const found = await this.find(origin, signal);
    const fetched = found === digest ? await this.#kept(digest) : undefined;
    if (fetched !== undefined) return fetched;
    throw new EspalierError(
      'ChartFetchFailed',
      `The file at ${shownUrl(origin.url)} changed since it was looked up; it is looked up again.`,
      { data: { changed: true } },
    );
  }

  /** What was downloaded as files, and where in them the source is. */
  async folder(origin: DownloadOrigin, digest: string, path: string | undefined, signal: AbortSignal): Promise<Folder> {
    const { pathname } = new URL(origin.url);
    const bytes = await this.read(origin, digest, signal);
    const name = pathname.slice(pathname.lastIndexOf('/') + 1);
    const tree = await readFiles(bytes, { name, commit: digest, limits: this.#parts.limits });
    return { tree, path: await placeIn(tree, path) };
  }

  async #ask(origin: DownloadOrigin, key: string, signal: AbortSignal): Promise<string> {
    const { transport, cache, limits, maxBytes } = this.#parts;
    const url = parsePlace(origin.url, transport.policy);
    const access: Access = { credentials: origin.credentials, origin: url.origin };
    const authorization = authorizationOf(origin.credentials);
    const known = await this.#known(key);
    const { digest = '', etag = '', modified = '' } = known ?? {};
    const headers = {
      accept: '*/*',
      'accept-encoding': 'identity',
      ...(etag === '' ? {} : { 'if-none-match': etag }),
      ...(modified === '' ? {} : { 'if-modified-since': modified }),
    };
    const answer = await transport.get({ url, headers, authorization, signal }, access);
    const what = `file ${url.origin}${url.pathname}`;
    if (answer.status === 304 && etag + modified !== '') {
      await discard(answer.body);
      await utimes(this.#file(digest), new Date(), new Date()).catch(() => {});
      return digest;
    }
    if (answer.status !== 200) return complain(answer, what, authorization !== undefined);
    const temporary = await cache.temporary();
    try {
      const fetched = await download(answer, temporary, limits.archiveBytes, `The ${what}`);
      await rename(temporary, this.#file(fetched.digest));
      await cache.setNote(await this.#permit(origin, fetched.digest), { digest: fetched.digest });
      const { etag: tag = '', 'last-modified': time = '' } = answer.headers;
      await cache.setNote(key, { digest: fetched.digest, etag: tag, modified: time });
      await trimFolder(join(this.#file(fetched.digest), '..'), MAX_FILES, maxBytes);
      return fetched.digest;
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /** What the last answer was, while its file is here. */
  async #known(key: string): Promise<Record<string, string> | undefined> {
    const note = await this.#parts.cache.note(key);
    if (note?.digest === undefined) return undefined;
    const found = await stat(this.#file(note.digest)).catch(() => undefined);
    return found === undefined ? undefined : note;
  }

  /** The file of a digest, when it is here and whole. */
  async #kept(digest: string): Promise<Buffer | undefined> {
    const file = this.#file(digest);
    const bytes = await readFile(file).catch(() => undefined);
    if (bytes === undefined) return undefined;
    if (`sha256:${createHash('sha256').update(bytes).digest('hex')}` === digest) return bytes;
    await rm(file, { force: true });
    return undefined;
  }

  async #permit({ url, credentials }: DownloadOrigin, digest: string): Promise<string> {
    return this.#parts.cache.key('downloaded', url, credentials, digest);
  }

  #file(digest: string): string {
    return join(this.#parts.cacheDir, 'downloads', digest.replace(/^sha256:/, '').replace(/[^0-9a-f]/g, ''));
  }
}

/** Addresses of stores are signed in their query. */
export function shownUrl(url: string): string {
  return url.replace(/[?#].*$/s, '');
}
