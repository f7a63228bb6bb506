import type { JsonObject, Violation } from '../api/index.ts';
import { OBJECT_ID, PATH, RANGE } from '../api/patterns.ts';
import { describeFound } from '../api/validate/describe.ts';
import type { Pointers } from './pointers.ts';

export interface SourceFields {
  kind: string;
  url: string | undefined;
  /** Where `url` stands: `/spec/url` or `/spec/repo`. */
  urlAt: string;
  chart: string | undefined;
  chartAt: string;
  /** What the chart is called when nothing else is said. */
  name: string;
  version: string | undefined;
  path: string | undefined;
  /** Whether there is a repository that a folder can be in. */
  inRepository: boolean;
}

export type SourceAnswer = { source: JsonObject; pointers: Pointers } | { fault: Violation };

const ARCHIVE = /\.(tgz|tar\.gz|zip)$/i;
const ONE_FILE = /\.ya?ml$/i;
const FOLDER_EXPECTED = 'a Git repository (….git), a .tgz, .tar.gz, .zip or .yaml, or a folder of this repository';
const URL_EXPECTED = `a Helm repository, oci://…, ${FOLDER_EXPECTED}`;
const VERSION_EXPECTED = 'a version or a range of versions such as 1.18.2, ~1.18 or ">=1.29 <1.32"';
const ELSEWHERE_EXPECTED = URL_EXPECTED.replace(', or a folder of this repository', '').replace('a .tgz', 'or a .tgz');

/** What `url` (or `repo`) means, told by its form alone, as KubeGems tells it. */
export function sourceOf(fields: SourceFields): SourceAnswer {
  const { url, urlAt, path, inRepository } = fields;
  if (url === undefined) {
    if (path !== undefined) return folder(fields, '/spec/path', path);
    const expected = inRepository ? URL_EXPECTED : ELSEWHERE_EXPECTED;
    return { fault: { path: urlAt, message: `spec.url is missing, expected ${expected}`, expected } };
  }
  if (url.startsWith('oci://')) return fromRegistry(fields, url);
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined && !/^[^/]+@[^/]+:/.test(url)) return folder(fields, urlAt, url);
  const place = url.replace(/[?#].*$/, '');
  if (scheme === undefined || scheme === 'ssh' || /\.git\/?$/.test(place)) return fromGit(fields, url);
  if (scheme !== 'https' && scheme !== 'http') return { fault: wrong(urlAt, url, inRepository) };
  if (ARCHIVE.test(place) || ONE_FILE.test(place)) return fromFile(fields, url, ONE_FILE.test(place));
  return fromHelmRepository(fields, url);
}

function fromHelmRepository(fields: SourceFields, url: string): SourceAnswer {
  const { kind, urlAt, chartAt, chart, name, version } = fields;
  if (kind !== 'helm' && kind !== 'template') {
    const message = `${nameOf(urlAt)} is ${describeFound(url)}, which is taken for a Helm repository, but kind ${kind} expects ${FOLDER_EXPECTED}`;
    return { fault: { path: urlAt, message, expected: FOLDER_EXPECTED } };
  }
  const fault = notARange(version) ?? pathMeansNothing(fields, 'a Helm repository has no folders');
  if (fault !== undefined) return { fault };
  return {
    source: { chart: { repository: url, name: chart ?? name, ...versionOf(version) } },
    pointers: [
      ['/spec/source', urlAt],
      ['/spec/source/chart/repository', urlAt],
      ['/spec/source/chart/name', chart === undefined ? '/metadata/name' : chartAt],
      ['/spec/source/chart/version', '/spec/version'],
    ],
  };
}

/** The URL names the chart itself, unless `chart` says that it is one further down. */
function fromRegistry(fields: SourceFields, url: string): SourceAnswer {
  const { urlAt, chart, version } = fields;
  const fault = notARange(version) ?? pathMeansNothing(fields, 'a chart in a registry has no folders');
  if (fault !== undefined) return { fault };
  const base = url.replace(/\/+$/, '');
  const whole = chart === undefined || base.endsWith(`/${chart}`) ? base : `${base}/${chart}`;
  return {
    source: { oci: { url: whole, ...versionOf(version) } },
    pointers: [
      ['/spec/source', urlAt],
      ['/spec/source/oci/url', urlAt],
      ['/spec/source/oci/version', '/spec/version'],
    ],
  };
}

function fromGit({ urlAt, version, path = '.' }: SourceFields, url: string): SourceAnswer {
  const ref = version === undefined || version === '' || version === 'HEAD' ? undefined : refOf(version);
  return {
    source: { git: { url, path, ...(ref === undefined ? {} : { ref }) } },
    pointers: [
      ['/spec/source', urlAt],
      ['/spec/source/git/url', urlAt],
      ['/spec/source/git/path', '/spec/path'],
      ['/spec/source/git/ref', '/spec/version'],
    ],
  };
}

/** KubeGems takes any revision. What looks like a version is a tag, a range is followed, the rest is a branch. */
function refOf(version: string): JsonObject {
  const full = /^refs\/(heads|tags)\/(.+)$/.exec(version);
  if (full?.[2] !== undefined) return full[1] === 'tags' ? { tag: full[2] } : { branch: full[2] };
  if (new RegExp(`^${OBJECT_ID}$`).test(version)) return { commit: version };
  if (/^v?[0-9]+([.][0-9]+)*([-+][0-9A-Za-z.+-]+)?$/.test(version)) return { tag: version };
  return new RegExp(`^${RANGE}$`).test(version) ? { semver: version } : { branch: version };
}

function fromFile(fields: SourceFields, url: string, isOneFile: boolean): SourceAnswer {
  const { kind, urlAt, path } = fields;
  if (isOneFile && kind !== 'native') {
    const expected = kind === 'kustomize' ? FOLDER_EXPECTED.replace(' or .yaml', '') : 'a chart, or kind: native';
    const message = `${nameOf(urlAt)} is ${describeFound(url)}, one file of YAML, but kind ${kind} expects ${expected}`;
    return { fault: { path: urlAt, message, expected } };
  }
  const fault = isOneFile ? pathMeansNothing(fields, 'one file of YAML has no folders') : undefined;
  if (fault !== undefined) return { fault };
  return {
    source: { download: { url, ...(path === undefined ? {} : { path }) } },
    pointers: [
      ['/spec/source', urlAt],
      ['/spec/source/download/url', urlAt],
      ['/spec/source/download/path', '/spec/path'],
    ],
  };
}

/** `path`, where both are given, is below the folder. */
function folder(fields: SourceFields, at: string, written: string): SourceAnswer {
  const below = at === '/spec/path' ? undefined : fields.path;
  if (!fields.inRepository) {
    const message = `${nameOf(at)} is ${describeFound(written)}, a folder, which only a Plugin that stands in a repository can name; expected ${ELSEWHERE_EXPECTED}`;
    return { fault: { path: at, message, expected: ELSEWHERE_EXPECTED } };
  }
  if (!new RegExp(`^${PATH}$`).test(written)) return { fault: wrong(at, written, true) };
  return {
    source: { git: { path: below === undefined ? written : `${written.replace(/\/$/, '')}/${below}` } },
    pointers: [
      ['/spec/source', at],
      ['/spec/source/git/path', at],
    ],
  };
}

function wrong(at: string, found: string, inRepository: boolean): Violation {
  const expected = inRepository ? URL_EXPECTED : ELSEWHERE_EXPECTED;
  return { path: at, message: `${nameOf(at)} is ${describeFound(found)}, expected ${expected}`, expected };
}

function notARange(version: string | undefined): Violation | undefined {
  if (version === undefined || version === '' || new RegExp(`^${RANGE}$`).test(version)) return undefined;
  const message = `spec.version is ${describeFound(version)}, expected ${VERSION_EXPECTED}`;
  return { path: '/spec/version', message, expected: VERSION_EXPECTED };
}

function pathMeansNothing({ path }: SourceFields, why: string): Violation | undefined {
  if (path === undefined) return undefined;
  return { path: '/spec/path', message: `spec.path is given, but ${why}: leave it out`, expected: 'nothing' };
}

function versionOf(version: string | undefined): JsonObject {
  return version === undefined || version === '' ? {} : { version };
}

function nameOf(at: string): string {
  return at.slice(1).replaceAll('/', '.');
}
