import { EspalierError } from '../api/index.ts';
import { DEFAULT_LIMITS } from '../charts/limits.ts';
import type { TarMember } from '../charts/tar-read.ts';
import type { Registry } from '../registry/registry.ts';
import { type Descriptor, describePlace, type Place } from '../registry/types.ts';
import { packageLayers } from './artifact.ts';
import type { PackageFiles } from './package-files.ts';

/** A package in a registry: `reference` is a tag or a digest. */
export interface PackagePlace {
  place: Place;
  reference: string;
}

export interface OciPackageOptions {
  registry: Registry;
  signal?: AbortSignal | undefined;
  /** Bytes of one file that is read; default as much as an archive of a chart may have. */
  fileBytes?: number;
}

/** Fetches the manifest alone, and then the files that are asked for. Every one proves to be what its digest says. */
export async function ociPackage(at: PackagePlace, options: OciPackageOptions): Promise<PackageFiles> {
  const { registry, signal, fileBytes = DEFAULT_LIMITS.archiveBytes } = options;
  const { digest, layers } = await find(at, registry, signal);
  return {
    id: digest,
    paths: [...layers.keys()].sort(),
    async read(path) {
      const layer = layers.get(path);
      if (layer === undefined) return undefined;
      if (layer.size > fileBytes)
        throw new EspalierError(
          'ExpansionInvalid',
          `${path} of ${describe(at)} has ${layer.size} bytes; ${fileBytes} are allowed: make it smaller`,
          { retry: false },
        );
      const parts: Uint8Array[] = [];
      for await (const part of registry.blob(at.place, layer, signal)) parts.push(part);
      return Buffer.concat(parts);
    },
  };
}

/** Everything in it, one after the other: for a check of the whole. */
export async function* ociMembers(
  at: PackagePlace,
  { registry, signal }: OciPackageOptions,
): AsyncGenerator<TarMember> {
  const { layers } = await find(at, registry, signal);
  for (const [path, layer] of layers)
    yield {
      ...{ path, size: layer.size, type: 'file', kind: 'a file' },
      content: async function* () {
        yield* registry.blob(at.place, layer, signal);
      },
    };
}

/** `oci://registry.example.com/team/demo:v1.0`, or with a digest behind an @. `reference` is absent where there is none. */
export function parsePackageUrl(text: string): { place: Place; reference: string | undefined } | undefined {
  const [, host = '', repository = '', tag, digest] =
    /^oci:\/\/([^/\s]+)\/([^\s:@]+?)(?::(\w[\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/i.exec(text) ?? [];
  return host === '' ? undefined : { place: { host, repository }, reference: digest ?? tag };
}

async function find(
  at: PackagePlace,
  registry: Registry,
  signal: AbortSignal | undefined,
): Promise<{ digest: string; layers: Map<string, Descriptor> }> {
  const manifest = await registry.manifest(at.place, at.reference, signal);
  if (manifest === undefined)
    throw new EspalierError(
      'RegistryNotFound',
      `${at.place.host} has no ${describe(at)}; check its path and version, or push it with espalier expansion push`,
    );
  return { digest: manifest.digest, layers: packageLayers(manifest, describe(at)) };
}

function describe({ place, reference }: PackagePlace): string {
  return `package ${describePlace(place)}${reference.startsWith('sha256:') ? '@' : ':'}${reference}`;
}
