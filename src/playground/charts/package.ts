import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { EspalierError } from '../../api/index.ts';
import { tarball } from './tarball.ts';

/** The files of a chart by their path in it: `Chart.yaml`, `templates/web.yaml`, `charts/sub/Chart.yaml`. */
export type ChartFiles = Readonly<Record<string, string | Uint8Array>>;

export interface PackagedChart {
  name: string;
  version: string;
  /** `web-1.2.3.tgz` */
  file: string;
  bytes: Buffer;
  /** Of the archive, as an index names it: 64 hexadecimal digits. */
  digest: string;
  /** What Chart.yaml says. */
  metadata: Record<string, unknown>;
}

/** Packages a chart as `helm package` does, but always to the same bytes. */
export function packageChart(files: ChartFiles): PackagedChart {
  const metadata = metadataOf(files['Chart.yaml']);
  const { name, version } = metadata;
  if (typeof name !== 'string' || typeof version !== 'string') {
    throw new EspalierError('PlaygroundFailed', 'Chart.yaml needs a name and a version to be packaged');
  }
  const entries = Object.entries(files).map(([path, content]) => ({ path: `${name}/${path}`, content }));
  return packed(name, version, tarball(entries), metadata);
}

/** An archive made by other means, to be served under a name and version. */
export function packed(
  name: string,
  version: string,
  bytes: Buffer,
  metadata: Record<string, unknown> = { apiVersion: 'v2', name, version },
): PackagedChart {
  const digest = createHash('sha256').update(bytes).digest('hex');
  return { name, version, file: `${name}-${version}.tgz`, bytes, digest, metadata };
}

/** Reads a chart from a folder. */
export async function readChartFolder(folder: string): Promise<ChartFiles> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
  const files = await Promise.all(paths.map(async (path) => [path, await readFile(join(folder, path))] as const));
  return Object.fromEntries(files);
}

function metadataOf(file: string | Uint8Array | undefined): Record<string, unknown> {
  const read: unknown = parse(Buffer.from(file ?? '').toString('utf8'));
  return typeof read === 'object' && read !== null ? (read as Record<string, unknown>) : {};
}
