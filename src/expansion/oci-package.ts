import { EspalierError } from '../api/index.ts';
import type { TarMember } from '../charts/tar-read.ts';
import type { Registry } from '../registry/registry.ts';
import { type Descriptor, describePlace, type Place } from '../registry/types.ts';
import { packageLayers } from './artifact.ts';

/** A package in a registry: `reference` is a tag or a digest. */
export interface PackagePlace {
  place: Place;
  reference: string;
}

/**
 * Fetches the manifest, and then of everything in it, one after the other, what is asked for. Every file proves to be what its
 * digest says.
 */
export async function* ociMembers(at: PackagePlace, registry: Registry): AsyncGenerator<TarMember> {
  const layers = await find(at, registry);
  for (const [path, layer] of layers)
    yield {
      ...{ path, size: layer.size, type: 'file', kind: 'a file' },
      content: async function* () {
        yield* registry.blob(at.place, layer);
      },
    };
}

/** `oci://registry.example.com/team/demo:v1.0`, or with a digest behind an @. `reference` is absent where there is none. */
export function parsePackageUrl(text: string): { place: Place; reference: string | undefined } | undefined {
  const [, host = '', repository = '', tag, digest] =
    /^oci:\/\/([^/\s]+)\/([^\s:@]+?)(?::(\w[\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/i.exec(text) ?? [];
  return host === '' ? undefined : { place: { host, repository }, reference: digest ?? tag };
}

async function find(at: PackagePlace, registry: Registry): Promise<Map<string, Descriptor>> {
  const manifest = await registry.manifest(at.place, at.reference);
  if (manifest === undefined)
    throw new EspalierError(
      'RegistryNotFound',
      `${at.place.host} has no ${describe(at)}; check its path and version, or push it with espalier expansion push`,
    );
  return packageLayers(manifest, describe(at));
}

function describe({ place, reference }: PackagePlace): string {
  return `package ${describePlace(place)}${reference.startsWith('sha256:') ? '@' : ':'}${reference}`;
}
