import { EspalierError } from '../api/index.ts';
import { type ChartFacts, chartArtifact, chartLayer, chartTag } from '../registry/chart-artifact.ts';
import type { Museum } from '../registry/museum.ts';
import type { Registry } from '../registry/registry.ts';
import { describePlace, type Manifest, type Place } from '../registry/types.ts';
import type { LayoutFolder } from './layout-folder.ts';
import type { Outcome } from './outcome.ts';
import { repositorySink, repositorySource, type Source, transferTree } from './transfer.ts';

/** A chart as registries keep it, wherever it comes from. */
export interface ChartContent {
  name: string;
  version: string;
  root: Manifest;
  from: Source;
}

export interface ChartSink {
  /** Where a chart goes, for people. */
  placeOf(chart: { name: string; version: string }): string;
  put(chart: ChartContent, dryRun: boolean): Promise<Outcome>;
}

/** Of a registry: with the digest that it has there. */
export async function chartInRegistry(
  registry: Registry,
  place: Place,
  { name, version, digest }: { name: string; version: string; digest: string },
  signal: AbortSignal,
): Promise<ChartContent> {
  const root = await registry.manifest(place, digest, signal);
  if (root === undefined)
    throw new EspalierError(
      'RegistryNotFound',
      `${place.host} no longer has the chart ${describePlace(place)} as ${digest}`,
    );
  return { name, version, root, from: repositorySource(registry, place, signal) };
}

/** An archive, wherever it is kept. */
export function chartInArchive(facts: ChartFacts, open: () => AsyncIterable<Uint8Array>): ChartContent {
  const { manifest, config, layer } = chartArtifact(facts);
  return {
    ...{ name: facts.name, version: facts.version, root: manifest },
    from: {
      manifest: async () => undefined,
      blob: ({ digest }) => (digest === layer.digest ? open() : inMemory(config.bytes)),
    },
  };
}

export async function* inMemory(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Below `oci://registry.local/charts` each chart is by its own name. */
export function chartPlace(base: Place, { name }: { name: string }): Place {
  return { ...base, repository: base.repository === '' ? name : `${base.repository}/${name}` };
}

/** The same for people: `oci://registry.local/charts/web:1.0.0`. */
export function registryAddress(base: Place, chart: { name: string; version: string }): string {
  return `oci://${describePlace(chartPlace(base, chart))}:${chartTag(chart.version)}`;
}

/** A chart in a ChartMuseum, for people. */
export function museumAddress(address: string, { name, version }: { name: string; version: string }): string {
  return `${address.replace(/\/+$/, '')} ${name}-${version}`;
}

export function registryCharts(registry: Registry, base: Place, signal: AbortSignal): ChartSink {
  return {
    placeOf: (chart) => registryAddress(base, chart),
    async put(chart, dryRun) {
      const [place, tag] = [chartPlace(base, chart), chartTag(chart.version)];
      if ((await registry.look(place, tag, signal))?.digest === chart.root.digest) return { state: 'there' };
      if (dryRun) return { state: 'missing' };
      const what = `${chart.name} ${chart.version}`;
      await transferTree({ from: chart.from, to: repositorySink(registry, place, signal), what }, chart.root, tag);
      return { state: 'copied' };
    },
  };
}

/** A ChartMuseum. What is there under the same name and version and is something else is never replaced. */
export function museumCharts(museum: Museum, address: string, signal: AbortSignal): ChartSink {
  return {
    placeOf: (chart) => museumAddress(address, chart),
    async put({ name, version, root, from }, dryRun) {
      const layer = chartLayer(root, `${name} ${version}`);
      const found = await museum.digestOf({ name, version }, signal);
      if (found === layer.digest) return { state: 'there' };
      if (found !== undefined) {
        const message = `${address} has another chart as ${name} ${version}: ${found}, not ${layer.digest}; remove it there, or give the chart another version`;
        throw new EspalierError('RegistryRefused', message, { retry: false });
      }
      if (dryRun) return { state: 'missing' };
      const parts: Uint8Array[] = [];
      for await (const part of from.blob(layer)) parts.push(part);
      await museum.push({ name, version, digest: layer.digest, archive: Buffer.concat(parts) }, signal);
      return { state: 'copied' };
    },
  };
}

export function archivedCharts(layout: LayoutFolder, title: string): ChartSink {
  const named = ({ name, version }: { name: string; version: string }) => ({
    kind: 'chart' as const,
    name: `${name} ${version}`,
  });
  return {
    placeOf: () => title,
    async put(chart, dryRun) {
      const { root, name, version } = chart;
      if (layout.has(named(chart), root.digest)) return { state: 'there' };
      if (dryRun) return { state: 'missing' };
      await transferTree({ from: chart.from, to: layout, what: `${name} ${version}` }, root, root.digest);
      const size = root.bytes.length;
      await layout.name({
        ...named(chart),
        chart: { name, version },
        root: { mediaType: root.mediaType, digest: root.digest, size },
      });
      return { state: 'copied' };
    },
  };
}
