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
  const wire = await wireFor(flags);
  const registry = openRegistry(wire);
  const address = flags.charts === true ? `oci://${flags.to}/charts` : flags.charts;
  const isApart = address === undefined || flags.toArchive !== undefined;
  let crane: Promise<CraneOptions> | undefined;
  try {
    const run = (chartSink?: ChartSink) =>
      use({
        registry,
        crane: () => {
          crane ??= craneOptions(flags, wire.insecure);
          return crane;
        },
        chartSink,
        dryRun: flags.dryRun === true,
        signal,
      });
    return await (isApart ? run() : withChartSink(address, registry, wire, signal, run));
  } finally {
    await registry.close();
  }
}

export interface WireFlags {
  caFile?: string;
  insecureRegistry?: string[];
}

/** How registries are spoken to: with the logins of `docker login`. */
export async function wireFor({ caFile, insecureRegistry: insecure = [] }: WireFlags) {
  const ca = caFile === undefined ? undefined : await readCertificates(caFile);
  return { loginFor: dockerLogins(process.env), insecure, ca };
}

/** Where charts go: below an address of a registry, or into a ChartMuseum. */
export async function withChartSink<T>(
  address: string,
  registry: Registry,
  wire: Awaited<ReturnType<typeof wireFor>>,
  signal: AbortSignal,
  use: (sink: ChartSink) => Promise<T>,
): Promise<T> {
  if (/^oci:/i.test(address)) return await use(registryCharts(registry, basePlace(address), signal));
  const museum = openMuseum(address, wire);
  try {
    return await use(museumCharts(museum, address, signal));
  } finally {
    await museum.close();
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
  const wrong = (why: string) =>
    new EspalierError('InvalidConfiguration', `${option} "${address}": ${why}`, { retry: false });
  if (host === '') throw wrong('write oci://registry.example.com/charts');
  if (!/^[a-z0-9._/-]*$/.test(repository)) throw wrong('a path of registries has lower case, digits, ".", "_" and "-"');
  return { host, repository };
}
