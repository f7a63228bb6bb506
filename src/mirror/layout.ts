import { EspalierError } from '../api/index.ts';
import { digestOf, mediaTypeOf } from '../registry/contents.ts';
import { proven } from '../registry/registry.ts';
import { type Descriptor, DIGEST, type Manifest } from '../registry/types.ts';
import type { Source } from './transfer.ts';

/** Tools that read OCI layouts go by this name. */
export const REF_NAME = 'org.opencontainers.image.ref.name';

export const ARCHIVE = {
  kind: 'dev.espalier.kind',
  /** As the cluster pulls it. */
  pulled: 'dev.espalier.pulled',
  chart: 'dev.espalier.chart',
  version: 'dev.espalier.version',
} as const;

/** One image or chart in an archive, as its index names it. */
export interface Entry {
  kind: 'image' | 'chart';
  /** `docker.io/library/nginx:1.27`, or `web 1.2.0` of a chart. */
  name: string;
  pulled?: string;
  chart?: { name: string; version: string };
  root: Pick<Descriptor, 'mediaType' | 'digest' | 'size'>;
}

/** Where the files of a layout are read from: a folder or a tar. Undefined for one that is not there. */
export interface LayoutFiles {
  /** `index.json`, for messages. */
  title: string;
  read(path: string): Promise<Uint8Array | undefined>;
  stream(path: string): AsyncIterable<Uint8Array> | undefined;
  close(): Promise<void>;
}

export interface Layout extends Source {
  entries: Entry[];
  close(): Promise<void>;
}

export function blobPath(digest: string): string {
  return `blobs/${digest.replace(':', '/')}`;
}

/** Opens an OCI layout. Every part proves to be what its digest says while it is read. */
export async function openLayout(files: LayoutFiles): Promise<Layout> {
  const index = await files.read('index.json');
  if (index === undefined || (await files.read('oci-layout')) === undefined)
    throw invalid(files.title, 'is no OCI layout: it has no oci-layout and index.json');
  return {
    entries: entriesOf(index, files.title),
    async manifest(digest): Promise<Manifest | undefined> {
      const bytes = await files.read(blobPath(digest));
      if (bytes === undefined) return undefined;
      if (digestOf(bytes) !== digest) throw invalid(files.title, `holds another manifest than ${digest}`);
      return { digest, bytes, mediaType: mediaTypeOf(bytes) };
    },
    async *blob(descriptor) {
      const parts = files.stream(blobPath(descriptor.digest));
      if (parts === undefined) throw invalid(files.title, `lacks the part ${descriptor.digest}`);
      yield* proven(parts, descriptor, (why) =>
        invalid(files.title, `holds a damaged part ${descriptor.digest}: ${why}`),
      );
    },
    close: () => files.close(),
  };
}

export function entriesOf(index: Uint8Array, title: string): Entry[] {
  let manifests: unknown;
  try {
    manifests = (JSON.parse(Buffer.from(index).toString('utf8')) as { manifests?: unknown }).manifests;
  } catch {
    throw invalid(title, 'has an index.json that is no JSON');
  }
  if (!Array.isArray(manifests)) throw invalid(title, 'has an index.json that names nothing');
  return manifests.map((item: Partial<Descriptor>) => {
    const { mediaType = '', digest = '', size = 0, annotations = {} } = item ?? {};
    const name = annotations[REF_NAME];
    if (!DIGEST.test(digest) || typeof name !== 'string')
      throw invalid(title, `has an entry without a digest and the annotation ${REF_NAME}`);
    const pulled = annotations[ARCHIVE.pulled];
    const [chart, version] = [annotations[ARCHIVE.chart], annotations[ARCHIVE.version]];
    return {
      kind: annotations[ARCHIVE.kind] === 'chart' ? 'chart' : 'image',
      name,
      ...(pulled === undefined ? {} : { pulled }),
      ...(chart === undefined || version === undefined ? {} : { chart: { name: chart, version } }),
      root: { mediaType, digest, size },
    } satisfies Entry;
  });
}

export function indexOf(entries: readonly Entry[]): string {
  const manifests = entries
    .toSorted((a, b) => (`${a.kind} ${a.name}` < `${b.kind} ${b.name}` ? -1 : 1))
    .map(({ kind, name, pulled, chart, root }) => ({
      ...root,
      annotations: {
        [REF_NAME]: name,
        [ARCHIVE.kind]: kind,
        ...(pulled === undefined ? {} : { [ARCHIVE.pulled]: pulled }),
        ...(chart === undefined ? {} : { [ARCHIVE.chart]: chart.name, [ARCHIVE.version]: chart.version }),
      },
    }));
  const mediaType = 'application/vnd.oci.image.index.v1+json';
  return `${JSON.stringify({ schemaVersion: 2, mediaType, manifests }, null, 2)}\n`;
}

export function invalid(title: string, why: string): EspalierError {
  return new EspalierError(
    'ArchiveInvalid',
    `${title} ${why}; make it again with --to-archive, or carry it over again`,
    {
      retry: false,
    },
  );
}
