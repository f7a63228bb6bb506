import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Crd } from './inspect.ts';
import { trimFolder } from './trim.ts';

/** A chart that was checked, as it is handed out. */
export interface Chart {
  name: string;
  version: string;
  appVersion?: string;
  /** sha256:… of the archive. */
  digest: string;
  /** A .tgz that Helm may read: regular files only, in one folder. */
  archive: string;
  type: 'application' | 'library';
  kubeVersion?: string;
  /** Of the crds/ folders of the chart and of the charts in it, in Helm's order. */
  crds: readonly Crd[];
  /** Whether any template of it or of a chart in it says `lookup`. */
  usesLookup: boolean;
  /** Charts that it names as dependencies, and what they are called in it: their alias where they have one. */
  dependencies: readonly { name: string; as: string }[];
  bytes: number;
}

export interface CacheOptions {
  dir: string;
  maxBytes: number;
  now: () => number;
}

/** An archive that was handed out so recently may still be read by somebody. */
const IN_USE_MS = 10 * 60_000;
const STALE_MS = 60 * 60_000;
const HEX = /^[0-9a-f]{64}$/;
/** Notes of which chart an answer meant are small, and there is no use for old ones. */
const MAX_NOTES = 5000;

/**
 * Charts on disk, each once by its digest, with the facts of each beside it, and notes of which digest an answer meant.
 * Every file is complete or absent: written under another name, then renamed. Full, it forgets what was used longest ago.
 */
export class ChartCache {
  readonly #options: CacheOptions;
  readonly #given = new Map<string, number>();
  /** Archives whose sum was looked at in this process, with their size and time then. */
  readonly #proven = new Map<string, string>();
  #ready: Promise<Buffer> | undefined;
  #notes = 0;

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  /** A name for files that nobody can compute back to what went into it, credentials among that. */
  async key(...parts: unknown[]): Promise<string> {
    return createHmac('sha256', await this.#prepare())
      .update(JSON.stringify(parts))
      .digest('hex');
  }

  /** A path for a new file, in the same file system. */
  async temporary(): Promise<string> {
    await this.#prepare();
    return join(this.#options.dir, 'tmp', randomUUID());
  }

  /** The chart with that digest, when it is here and whole. */
  async get(digest: string): Promise<Chart | undefined> {
    const hex = digest.replace(/^sha256:/, '');
    if (!HEX.test(hex)) return undefined;
    await this.#prepare();
    const archive = this.#path(`${hex}.tgz`);
    const facts = parseFacts(await readFile(this.#path(`${hex}.json`), 'utf8').catch(() => ''));
    if (facts === undefined || !(await this.#isWhole(archive, hex, facts.bytes))) {
      await this.#remove(hex);
      return undefined;
    }
    const now = this.#options.now();
    this.#given.set(hex, now);
    await utimes(archive, now / 1000, now / 1000).catch(() => {});
    this.#proven.set(hex, await stampOf(archive));
    return { ...facts, digest: `sha256:${hex}`, archive };
  }

  /** Takes a checked archive over. */
  async put(file: string, digest: string, facts: Omit<Chart, 'digest' | 'archive'>): Promise<Chart> {
    const hex = digest.replace(/^sha256:/, '');
    const archive = this.#path(`${hex}.tgz`);
    // The facts come last: without them the archive counts as absent.
    await rename(file, archive);
    await this.#write(this.#path(`${hex}.json`), JSON.stringify(facts));
    const now = this.#options.now();
    await utimes(archive, now / 1000, now / 1000);
    this.#given.set(hex, now);
    this.#proven.set(hex, await stampOf(archive));
    await this.#trim();
    return { ...facts, digest: `sha256:${hex}`, archive };
  }

  async note(key: string): Promise<Record<string, string> | undefined> {
    await this.#prepare();
    const text = await readFile(join(this.#options.dir, 'notes', key), 'utf8').catch(() => undefined);
    try {
      const value: unknown = text === undefined ? undefined : JSON.parse(text);
      if (typeof value !== 'object' || value === null) return undefined;
      return Object.fromEntries(Object.entries(value).filter(([, part]) => typeof part === 'string'));
    } catch {
      return undefined;
    }
  }

  async setNote(key: string, value: Record<string, string>): Promise<void> {
    await this.#prepare();
    await this.#write(join(this.#options.dir, 'notes', key), JSON.stringify(value));
    this.#notes += 1;
    if (this.#notes % 500 === 1) await trimFolder(join(this.#options.dir, 'notes'), MAX_NOTES);
  }

  async #isWhole(archive: string, hex: string, bytes: number): Promise<boolean> {
    const stamp = await stampOf(archive).catch(() => '');
    if (stamp === '' || !stamp.startsWith(`${bytes} `)) return false;
    if (this.#proven.get(hex) === stamp) return true;
    const hash = createHash('sha256');
    for await (const part of createReadStream(archive)) hash.update(part);
    return hash.digest('hex') === hex;
  }

  async #trim(): Promise<void> {
    const { maxBytes, now } = this.#options;
    const files = [];
    for (const name of await readdir(this.#path(''))) {
      if (!name.endsWith('.tgz')) continue;
      const found = await stat(this.#path(name)).catch(() => undefined);
      if (found !== undefined) files.push({ hex: name.slice(0, -4), bytes: found.size, used: found.mtimeMs });
    }
    let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    for (const file of files.sort((a, b) => a.used - b.used)) {
      if (bytes <= maxBytes) return;
      const used = Math.max(file.used, this.#given.get(file.hex) ?? 0);
      if (now() - used < IN_USE_MS) continue;
      await this.#remove(file.hex);
      bytes -= file.bytes;
    }
  }

  async #remove(hex: string): Promise<void> {
    this.#given.delete(hex);
    this.#proven.delete(hex);
    await rm(this.#path(`${hex}.json`), { force: true });
    await rm(this.#path(`${hex}.tgz`), { force: true });
  }

  #path(name: string): string {
    return join(this.#options.dir, 'archives', name);
  }

  async #write(file: string, text: string): Promise<void> {
    const temporary = await this.temporary();
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(text);
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  }

  async #prepare(): Promise<Buffer> {
    this.#ready ??= prepare(this.#options.dir);
    this.#ready.catch(() => {
      this.#ready = undefined;
    });
    return this.#ready;
  }
}

/** Makes the folders, clears what a killed process left, and gives the secret of this cache. */
async function prepare(dir: string): Promise<Buffer> {
  for (const name of ['archives', 'notes', 'indexes', 'downloads', 'tmp'])
    await mkdir(join(dir, name), { recursive: true, mode: 0o700 });
  for (const name of await readdir(join(dir, 'tmp'))) {
    const path = join(dir, 'tmp', name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > STALE_MS) await rm(path, { recursive: true, force: true });
  }
  const file = join(dir, 'key');
  const handle = await open(file, 'wx', 0o600).catch(() => undefined);
  await handle?.writeFile(randomBytes(32));
  await handle?.close();
  return readFile(file);
}

async function stampOf(file: string): Promise<string> {
  const { size, mtimeMs, ino } = await stat(file);
  return `${size} ${mtimeMs} ${ino}`;
}

function parseFacts(text: string): Omit<Chart, 'digest' | 'archive'> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFacts(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isFacts(value: unknown): value is Omit<Chart, 'digest' | 'archive'> {
  if (typeof value !== 'object' || value === null) return false;
  const { name, version, bytes, crds, usesLookup, dependencies }: Record<string, unknown> = { ...value };
  return (
    typeof name === 'string' &&
    typeof version === 'string' &&
    typeof bytes === 'number' &&
    typeof usesLookup === 'boolean' &&
    Array.isArray(crds) &&
    Array.isArray(dependencies)
  );
}
