import { EspalierError } from '../api/index.ts';
import type { ImageName } from '../images/name.ts';
import { formatImage } from '../images/name.ts';
import { childFor, contentsOf } from '../registry/contents.ts';
import type { Registry } from '../registry/registry.ts';
import { isIndex, type Place } from '../registry/types.ts';

/** `docker.io` and `library/nginx`. */
export function placeOf({ name }: Pick<ImageName, 'name'>): Place {
  const slash = name.indexOf('/');
  return { host: name.slice(0, slash), repository: name.slice(slash + 1) };
}

/**
 * Which digest is to be copied. What is pinned is that, whole: for one platform of it alone there would be another
 * digest, under which nobody looks for it.
 */
export async function wantedDigest(
  registry: Registry,
  image: ImageName,
  platform: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (image.digest !== undefined) return image.digest;
  const place = placeOf(image);
  const tag = image.tag ?? 'latest';
  const found = await registry.look(place, tag, signal);
  if (found === undefined) throw missing(image);
  if (platform === undefined || !isIndex(found.mediaType)) return found.digest;
  const index = await registry.manifest(place, found.digest, signal);
  if (index === undefined) throw missing(image);
  const child = childFor(index, platform, formatImage(image));
  if (child !== undefined) return child.digest;
  const platforms = contentsOf(index, formatImage(image)).manifests.flatMap(({ platform: one }) =>
    one === undefined || one.os === 'unknown'
      ? []
      : [[one.os, one.architecture, one.variant].filter(Boolean).join('/')],
  );
  throw new EspalierError(
    'RegistryNotFound',
    `${formatImage(image)} is not there for ${platform}; there are: ${[...new Set(platforms)].join(', ')}`,
    { retry: false },
  );
}

export function missing(image: ImageName): EspalierError {
  const message = `${placeOf(image).host} has no ${formatImage(image)}; check its name and tag, or which Plugin asks for it`;
  return new EspalierError('RegistryNotFound', message, { retry: false });
}
