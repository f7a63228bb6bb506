import { readFile } from 'node:fs/promises';
import { EspalierError, messageOf, parseDuration } from '../api/index.ts';
import { type ChartSink, museumCharts, registryCharts } from '../mirror/charts.ts';
import type { CraneOptions } from '../mirror/crane.ts';
import { dockerLogins } from '../registry/docker-config.ts';
import { openMuseum } from '../registry/museum.ts';
import { openRegistry, type Registry } from '../registry/registry.ts';
import { showProgress } from '../tools/show-progress.ts';
import { toolPath } from '../tools/tool.ts';
import type { MirrorFlags } from './images-mirror.ts';

export interface MirrorTools {
  registry: Registry;
  crane(): Promise<CraneOptions>;
  /** Undefined where charts stay where they are. */
  chartSink: ChartSink | undefined;
  dryRun: boolean;
  signal: AbortSignal;
}

/** What copying needs, for as long as it goes on. */
export async function withMirrorTools<T>(
  flags: MirrorFlags,
  signal: AbortSignal,
  use: (tools: MirrorTools) => Promise<T>,
): Promise<T> {
  const ca = flags.caFile === undefined ? undefined : await readCertificates(flags.caFile);
  const insecure = flags.insecureRegistry ?? [];
  const wire = { loginFor: dockerLogins(process.env), insecure, ca };
  const registry = openRegistry(wire);
  const address = flags.charts === true ? `oci://${flags.to}/charts` : flags.charts;
  const museum =
    address === undefined || /^oci:/i.test(address) || flags.toArchive !== undefined
      ? undefined
      : openMuseum(address, wire);
  let crane: Promise<CraneOptions> | undefined;
  try {
    return await use({
      registry,
      crane: () => {
        crane ??= craneOptions(flags, insecure);
        return crane;
      },
      chartSink:
        address === undefined || flags.toArchive !== undefined
          ? undefined
          : museum === undefined
            ? registryCharts(registry, basePlace(address), signal)
            : museumCharts(museum, address, signal),
      dryRun: flags.dryRun === true,
      signal,
    });
  } finally {
    await Promise.all([registry.close(), museum?.close()]);
  }
}

async function craneOptions({ caFile, timeout }: MirrorFlags, insecure: readonly string[]): Promise<CraneOptions> {
  const env = Object.entries(process.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
  return {
    path: await toolPath('crane', { progress: showProgress(process.stderr) }),
    // Beside the system's folders of certificates, which are read all the same.
    env: { ...Object.fromEntries(env), ...(caFile === undefined ? {} : { SSL_CERT_FILE: caFile }) },
    insecure,
    timeoutMs: parseDuration(timeout),
  };
}

export async function readCertificates(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new EspalierError('InvalidConfiguration', `--ca-file: ${messageOf(error)}`, { retry: false });
  });
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new EspalierError('InvalidConfiguration', `--ca-file: ${file} holds no certificate in PEM`, { retry: false });
}

/** What is behind `oci://`; `option` is what says it. */
export function basePlace(address: string, option = '--charts'): { host: string; repository: string } {
  const [, host = '', repository = ''] = /^oci:\/\/([^/]+)(?:\/(.*?))?\/*$/i.exec(address) ?? [];
  if (host === '')
    throw new EspalierError('InvalidConfiguration', `${option} "${address}": write oci://registry.example.com/charts`, {
      retry: false,
    });
  return { host, repository };
}
