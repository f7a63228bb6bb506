import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { EspalierError, isError } from '../api/index.ts';
import { DEFAULT_LIMITS } from '../charts/limits.ts';
import { chartInArchive, chartPlace, museumAddress, registryAddress } from '../mirror/charts.ts';
import { repositorySink, transferTree } from '../mirror/transfer.ts';
import { type ChartFacts, chartLayer, chartTag } from '../registry/chart-artifact.ts';
import type { Museum } from '../registry/museum.ts';
import type { Registry } from '../registry/registry.ts';
import type { Place } from '../registry/types.ts';
import { differingFiles } from './same-content.ts';

export interface PackedChart extends ChartFacts {
  archive: string;
}

const CONFLICT = 409;

/** Where charts are published. */
export interface Shop {
  placeOf(chart: { name: string; version: string }): string;
  /** `new` in a dry run: it would be pushed. The same version with other content is an error. */
  put(chart: PackedChart, dryRun: boolean, signal: AbortSignal): Promise<'there' | 'pushed' | 'new'>;
}

/** `oci://registry.example.com/charts`: each chart below it by its own name. */
export function registryShop(registry: Registry, base: Place): Shop {
  const placeOf: Shop['placeOf'] = (chart) => registryAddress(base, chart);
  return {
    placeOf,
    async put(chart, dryRun, signal) {
      const [place, tag] = [chartPlace(base, chart), chartTag(chart.version)];
      const found = await registry.manifest(place, tag, signal);
      if (found !== undefined) {
        const layer = chartLayer(found, placeOf(chart));
        if (layer.digest !== chart.digest) {
          if (layer.size > DEFAULT_LIMITS.archiveBytes) throw other(placeOf(chart), `${layer.size} bytes`);
          const parts: Uint8Array[] = [];
          for await (const part of registry.blob(place, layer, signal)) parts.push(part);
          await demandSame(chart, Buffer.concat(parts), placeOf(chart));
        }
        return 'there';
      }
      if (dryRun) return 'new';
      const { from, root } = chartInArchive(chart, () => createReadStream(chart.archive));
      const what = `${chart.name} ${chart.version}`;
      await transferTree({ from, to: repositorySink(registry, place, signal), what }, root, tag);
      return 'pushed';
    },
  };
}

export function museumShop(museum: Museum, address: string): Shop {
  const placeOf: Shop['placeOf'] = (chart) => museumAddress(address, chart);
  return {
    placeOf,
    async put(chart, dryRun, signal) {
      const isThere = async (): Promise<boolean> => {
        const digest = await museum.digestOf(chart, signal);
        if (digest === undefined) return false;
        if (digest !== chart.digest) await demandSame(chart, await museum.archive(chart, signal), placeOf(chart));
        return true;
      };
      if (await isThere()) return 'there';
      if (dryRun) return 'new';
      try {
        await museum.push({ ...chart, archive: chart.archive }, signal);
        return 'pushed';
      } catch (error) {
        // Somebody else pushed it in between.
        if (isError(error) && error.data.status === CONFLICT && (await isThere())) return 'there';
        throw error;
      }
    },
  };
}

/** Whoever has pinned that version would get something else under its name. */
async function demandSame(chart: PackedChart, there: Uint8Array, place: string): Promise<void> {
  const differing = await differingFiles(await readFile(chart.archive), there);
  if (differing.length === 0) return;
  const more = differing.length > 3 ? ` and ${differing.length - 3} more` : '';
  throw other(place, `${differing.slice(0, 3).join(', ')}${more}`);
}

function other(place: string, how: string): EspalierError {
  const message = `${place} is there with other content (${how}): bump the version in Chart.yaml`;
  return new EspalierError('RegistryRefused', message, { retry: false });
}
