import { EspalierError } from '../api/index.ts';
import { CHART_LAYER } from '../registry/chart-artifact.ts';
import { contentsOf, digestOf } from '../registry/contents.ts';
import { type Descriptor, isIndex, type Manifest, MEDIA } from '../registry/types.ts';
import type { Expansion } from './format.ts';
import { whyUnsafe } from './names.ts';
import { SUMS_FILE, writeSums } from './sums.ts';
import { IMAGES_FILE } from './verify.ts';

export const PACKAGE_TYPE = 'application/vnd.espalier.expansion.v1';
const CONFIG = 'application/vnd.espalier.expansion.config.v1+json';
const IMAGES = 'application/vnd.espalier.expansion.images.v1.tar+gzip';
const FILE = 'application/vnd.espalier.expansion.file.v1';
const TITLE = 'org.opencontainers.image.title';
const VERSION = 'org.opencontainers.image.version';

/** A package as registries keep it: one layer a file, so that whoever needs one file fetches that one. */
export interface PackageArtifact {
  manifest: Manifest;
  /** Of every file of the package, by its path. */
  layers: Map<string, Descriptor>;
  /** What is made here and stands in no file, by its digest. */
  made: Map<string, Uint8Array>;
}

type Files = ReadonlyMap<string, { size: number; sha256: string }>;

/** The same package gives the same digest: nothing tells the time, and a folder and its .tgz are one package. */
export function packageArtifact(expansion: Expansion, files: Files): PackageArtifact {
  const sums = Buffer.from(writeSums(files));
  const config = Buffer.from(JSON.stringify(Object.fromEntries(Object.entries(expansion).sort(byKey))));
  const layers = new Map<string, Descriptor>();
  const paths = [...new Set([...files.keys(), SUMS_FILE])].sort();
  for (const path of paths) {
    const { size = 0, sha256 = '' } = files.get(path) ?? {};
    const [digest, bytes] = path === SUMS_FILE ? [digestOf(sums), sums.length] : [`sha256:${sha256}`, size];
    layers.set(path, { mediaType: typeOf(path), digest, size: bytes, annotations: { [TITLE]: path } });
  }
  const { expansion_name: name, expansion_version: version } = expansion;
  const annotations = {
    ...(name === undefined ? {} : { [TITLE]: name }),
    ...(version === undefined ? {} : { [VERSION]: version }),
  };
  const document = {
    schemaVersion: 2,
    mediaType: MEDIA.manifest,
    artifactType: PACKAGE_TYPE,
    config: { mediaType: CONFIG, digest: digestOf(config), size: config.length },
    layers: [...layers.values()],
    annotations,
  };
  const bytes = Buffer.from(JSON.stringify(document));
  const made = new Map<string, Uint8Array>([sums, config].map((one) => [digestOf(one), one]));
  return { manifest: { mediaType: MEDIA.manifest, digest: digestOf(bytes), bytes }, layers, made };
}

/** The files that a manifest names, by their paths. Refuses what is no package, or one with paths that are not safe. */
export function packageLayers(manifest: Manifest, what: string): Map<string, Descriptor> {
  const refuse = (why: string): never => {
    throw new EspalierError('ExpansionInvalid', `${what} ${why}`, { retry: false });
  };
  const type = typeIn(manifest);
  if (isIndex(manifest.mediaType) || type !== PACKAGE_TYPE)
    refuse(`is no expansion package: its type is ${JSON.stringify(type)}; push one with espalier expansion push`);
  const layers = new Map<string, Descriptor>();
  for (const descriptor of contentsOf(manifest, what).blobs) {
    if (descriptor.mediaType === CONFIG) continue;
    const path = descriptor.annotations?.[TITLE];
    if (typeof path !== 'string') return refuse(`holds ${descriptor.digest} without a path; push it again`);
    const unsafe = whyUnsafe(path);
    if (unsafe !== undefined) refuse(`holds a path that ${unsafe}: ${JSON.stringify(path.slice(0, 200))}`);
    if (layers.has(path)) refuse(`holds ${path} twice; push it again`);
    layers.set(path, descriptor);
  }
  return layers;
}

function typeOf(path: string): string {
  if (path === IMAGES_FILE) return IMAGES;
  return /^charts\/[^/]+\.tgz$/.test(path) ? CHART_LAYER : FILE;
}

function typeIn({ bytes, mediaType }: Manifest): string {
  try {
    const { artifactType, config } = JSON.parse(Buffer.from(bytes).toString('utf8')) as {
      artifactType?: unknown;
      config?: { mediaType?: unknown };
    };
    return String(artifactType ?? config?.mediaType ?? mediaType).slice(0, 200);
  } catch {
    return mediaType;
  }
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}
