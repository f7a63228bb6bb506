import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { EspalierError, isError } from '../api/index.ts';
import type { FileTree } from '../git/tree.ts';
import { packingOf } from './archive-tree.ts';
import type { Chart, ChartCache } from './cache.ts';
import { verifyCosign } from './cosign.ts';
import type { ChartCredentials } from './credentials.ts';
import type { Missing } from './dependencies.ts';
import { type DownloadOrigin, Downloads, type Folder } from './downloads.ts';
import { refused } from './errors.ts';
import { lookAtGit, packFolder, writeGitArchive } from './git-chart.ts';
import type { ChartLimits } from './limits.ts';
import { type ArtifactFiles, type OciOrigin, Registries } from './oci.ts';
import { type ChartOrigin, type ChartRequest, describe, type ResolvedChart } from './origin.ts';
import { type ChartTools, PROVENANCE_BYTES, unverified, verifyProvenance } from './provenance.ts';
import { idOf, Repositories, type RepositoryOrigin } from './repository.ts';
import type { Share } from './share.ts';
import type { Transport } from './transport.ts';

/** How much of a digest stands for a version, where there is none. */
const SHORT_DIGEST = 10;

/** For the dependencies of charts in Git. */
export interface DependencyRules {
  /** Where they may come from: beginnings of URLs. Absent: anywhere that may be dialled. */
  allow?: readonly string[];
  /** Whom a host takes us for, by its name and port. Absent: they are fetched without credentials, whoever wrote the chart. */
  loginFor?(host: string): Promise<ChartCredentials | undefined>;
}

export interface SourcesParts {
  cacheDir: string;
  /** What downloads may take on disk. */
  maxBytes: number;
  transport: Transport;
  cache: ChartCache;
  share: Share;
  limits: ChartLimits;
  now: () => number;
  tools: ChartTools;
  dependencies: DependencyRules;
  fetch(origin: ChartOrigin, expected: { name: string; version: string }, signal: AbortSignal): Promise<Chart>;
}

/** The four kinds of origin behind one surface. Knows nothing of what is cached as a chart. */
export class Sources {
  readonly #parts: SourcesParts;
  readonly #repositories: Repositories;
  readonly #registries: Registries;
  readonly #downloads: Downloads;

  constructor(parts: SourcesParts) {
    this.#parts = parts;
    this.#repositories = new Repositories({ ...parts, dir: parts.cacheDir });
    this.#registries = new Registries(parts.transport, parts.limits, parts.now);
    this.#downloads = new Downloads(parts);
  }

  async tags(origin: ChartOrigin, signal: AbortSignal): Promise<string[]> {
    if (origin.type !== 'oci') throw refused('Only OCI registries have tags.');
    return await this.#registries.tags(asOci(origin), signal);
  }

  async find(
    origin: Exclude<ChartOrigin, { type: 'git' }>,
    signal: AbortSignal,
    fresh: boolean,
  ): Promise<ResolvedChart> {
    if (origin.type === 'oci') return this.#registries.find(asOci(origin), signal);
    if (origin.type === 'download') {
      const id = await this.#downloads.find(asDownload(origin), signal);
      return { version: id.replace('sha256:', '').slice(0, SHORT_DIGEST), id };
    }
    const entry = await this.#repositories.find(asRepository(origin), signal, fresh);
    return { version: entry.version, id: idOf(entry) };
  }

  /** What was downloaded, as files. */
  async folder(origin: ChartOrigin, { id }: ResolvedChart, signal: AbortSignal): Promise<Folder> {
    if (origin.type !== 'download') throw refused(`Only a download is a folder, not ${describe(origin)}.`);
    return this.#downloads.folder(asDownload(origin), id, origin.path, signal);
  }

  /** An artifact of several files, such as an expansion package. */
  async artifact(
    { origin, verify }: ChartRequest,
    { id, version }: ResolvedChart,
    signal: AbortSignal,
  ): Promise<ArtifactFiles> {
    if (origin.type !== 'oci') throw refused(`Only what is in a registry is an artifact, not ${describe(origin)}.`);
    const oci = asOci(origin);
    if (verify !== undefined) {
      if (verify.provider !== 'cosign')
        throw refused(`${origin.url} is no chart, and only Cosign can sign it; use verify.provider cosign.`);
      await verifyCosign(this.#registries, oci, { name: origin.url, version }, id, verify.keys, signal);
    }
    return this.#registries.files(oci, id, signal);
  }

  /** What a path in Git is; the version of an archive is only in it. */
  async look(origin: ChartOrigin): Promise<{ id: string; version: string | undefined }> {
    if (origin.type !== 'git') throw new TypeError('only of Git');
    const found = await lookAtGit(origin.tree, origin.path);
    return { id: found.id, version: found.form === 'folder' ? found.chart.version : undefined };
  }

  /** Writes the archive to a new file and gives its digest. */
  async download(origin: ChartOrigin, resolved: ResolvedChart, file: string, signal: AbortSignal): Promise<string> {
    switch (origin.type) {
      case 'repository': {
        const asked = asRepository(origin);
        const entry = await this.#repositories.entry(asked, resolved.version, resolved.id, signal);
        const digest = entry.url.startsWith('oci://')
          ? await this.#fromRegistry(entry.url, file, signal)
          : await this.#repositories.download(asked, entry, file, signal);
        if (entry.digest === undefined || entry.digest === digest) return digest;
        throw refused(
          `The index of ${origin.repository} says ${entry.digest} of ${origin.name} ${entry.version}, but the archive has ${digest}; it is not used. Ask the owner of the repository.`,
          {
            expected: entry.digest,
            actual: digest,
          },
        );
      }
      case 'oci': {
        const { content } = await this.#registries.chartLayers(asOci(origin), resolved.id, signal);
        return this.#registries.download(asOci(origin), content, file, signal);
      }
      case 'download': {
        const asked = asDownload(origin);
        const bytes = await this.#downloads.read(asked, resolved.id, signal);
        // A chart as `helm package` makes it stays byte for byte what it is.
        if (origin.path === undefined && packingOf(bytes) === 'tgz') {
          await writeFile(file, bytes, { flag: 'wx', mode: 0o600 });
          return resolved.id;
        }
        const { tree, path } = await this.#downloads.folder(asked, resolved.id, origin.path, signal);
        return this.#fromTree({ tree, path }, file, signal);
      }
      case 'git':
        return this.#fromTree(origin, file, signal);
    }
  }

  async #fromTree(
    place: { tree: FileTree; path: string; inside?: string },
    file: string,
    signal: AbortSignal,
  ): Promise<string> {
    const found = await lookAtGit(place.tree, place.path);
    if (found.form === 'archive') await writeGitArchive({ ...place, path: found.path }, file, this.#parts.limits);
    else if (place.inside === undefined) await this.#pack(place.tree, found.path, file, signal);
    else throw refused(`${place.path} in Git is a folder: leave source.git.inside out, and write the whole path.`);
    return digestOf(file);
  }

  /** Some repositories are only an index of what lies in a registry: `oci://host/path:tag`. No login goes there. */
  async #fromRegistry(address: string, file: string, signal: AbortSignal): Promise<string> {
    const [, url = '', tag = ''] = /^(oci:\/\/[^/]+\/[^:@]+):([\w][\w.-]{0,127})$/.exec(address) ?? [];
    if (url === '')
      throw refused(`The repository gives ${JSON.stringify(address.slice(0, 200))} as address of a chart.`);
    const origin = { url, credentials: {} };
    const { content } = await this.#registries.chartLayers(origin, tag, signal);
    return this.#registries.download(origin, content, file, signal);
  }

  /** Throws ChartUnverified unless somebody who holds one of the keys signed the chart. */
  async verify(request: ChartRequest, resolved: ResolvedChart, chart: Chart, signal: AbortSignal): Promise<void> {
    const { origin, verify } = request;
    if (verify === undefined) return;
    if (verify.provider === 'cosign' && origin.type === 'oci') {
      return verifyCosign(this.#registries, asOci(origin), chart, resolved.id, verify.keys, signal);
    }
    const provenance = await this.#provenance(origin, resolved, chart, signal);
    await verifyProvenance(this.#parts.tools, chart, provenance, verify.keys, signal);
  }

  async #provenance(
    origin: ChartOrigin,
    resolved: ResolvedChart,
    chart: Chart,
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const none = (where: string): Error =>
      unverified(chart, `There is no provenance for it ${where}; make it with \`helm package --sign\``);
    switch (origin.type) {
      case 'oci': {
        const { provenance } = await this.#registries.chartLayers(asOci(origin), resolved.id, signal);
        if (provenance === undefined) throw none(`in ${origin.url}`);
        return this.#registries.read(asOci(origin), provenance, PROVENANCE_BYTES, signal);
      }
      case 'repository': {
        const asked = asRepository(origin);
        const entry = await this.#repositories.entry(asked, resolved.version, resolved.id, signal);
        const file = await this.#parts.cache.temporary();
        try {
          await this.#repositories.download(asked, entry, file, signal, '.prov');
          return await readFile(file);
        } catch (error) {
          throw isError(error, 'ChartNotFound') ? none(`in ${origin.repository}`) : error;
        } finally {
          await rm(file, { force: true });
        }
      }
      case 'download':
        throw none('where it is downloaded from');
      case 'git': {
        const found = await lookAtGit(origin.tree, origin.path);
        if (found.form === 'folder')
          throw refused(
            `${origin.path} in Git is a folder, and only an archive has provenance; sign the commits instead.`,
          );
        const bytes = await origin.tree.read(`${found.path}.prov`);
        if (bytes === undefined) throw none(`at ${found.path}.prov in Git`);
        return bytes;
      }
    }
  }

  async #pack(tree: FileTree, path: string, file: string, signal: AbortSignal): Promise<void> {
    const temporary: string[] = [];
    try {
      await packFolder(tree, path, file, {
        limits: this.#parts.limits,
        temporary: async () => {
          const name = await this.#parts.cache.temporary();
          temporary.push(name);
          return name;
        },
        fetch: (missing) => this.#dependency(missing, signal),
      });
    } finally {
      for (const name of temporary) await rm(name, { force: true });
    }
  }

  async #dependency(missing: Missing, signal: AbortSignal): Promise<Chart> {
    if (missing.from === 'folder') throw new TypeError('folders are packed, not fetched');
    const { allow, loginFor } = this.#parts.dependencies;
    const { name, version } = missing;
    const place = missing.from === 'oci' ? missing.url : missing.repository;
    if (allow !== undefined && !allow.some((start) => startsWithPlace(place, start))) {
      throw refused(
        `The dependency ${name} comes from ${place}, which is not among the places that dependencies may come from (${allow.join(', ') || 'none'}); commit it in charts/ or have the place allowed.`,
      );
    }
    const host = hostOf(place);
    const credentials = await loginFor?.(host);
    const known = { version, ...(credentials === undefined ? {} : { credentials }) };
    const origin: ChartOrigin =
      missing.from === 'oci'
        ? { type: 'oci', url: missing.url, ...known }
        : { type: 'repository', repository: missing.repository, name, ...known };
    try {
      return await this.#parts.fetch(origin, { name, version }, signal);
    } catch (error) {
      throw isError(error, 'ChartAuthFailed') ? withoutLogin(name, host, error, loginFor !== undefined) : error;
    }
  }
}

/** `registry.example.com:5000` */
function hostOf(place: string): string {
  return /^[a-z]+:\/\/(?:[^/@]*@)?([^/?#]*)/i.exec(place)?.[1]?.toLowerCase() ?? '';
}

/** A chart can't name a Secret for what it depends on. */
function withoutLogin(name: string, host: string, error: Error, hasLogins: boolean): EspalierError {
  const cure = hasLogins
    ? `log in with "docker login ${host}", or commit it in charts/`
    : 'dependencies are fetched without credentials: commit it in charts/';
  const [why = ''] = error.message.split(';');
  return new EspalierError('ChartAuthFailed', `The dependency ${name}: ${why}; ${cure}.`, { cause: error });
}

/** `https://charts.example.com/a` allows itself and all below, but not `…/ab` nor another host that begins alike. */
export function startsWithPlace(place: string, start: string): boolean {
  if (/%2e|%2f|\/\.\.?(\/|$)|\\/i.test(place)) return false;
  const plain = start.replace(/\/+$/, '');
  return place === plain || place.startsWith(`${plain}/`);
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(file)) hash.update(part);
  return `sha256:${hash.digest('hex')}`;
}

function asOci({ url, version, inside, credentials = {} }: Extract<ChartOrigin, { type: 'oci' }>): OciOrigin {
  return { url, version, inside, credentials };
}

function asRepository({
  repository,
  name,
  version,
  credentials = {},
}: Extract<ChartOrigin, { type: 'repository' }>): RepositoryOrigin {
  return { repository, name, version, credentials };
}

function asDownload({ url, credentials = {} }: Extract<ChartOrigin, { type: 'download' }>): DownloadOrigin {
  return { url, credentials };
}
