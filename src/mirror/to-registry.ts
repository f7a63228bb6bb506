import { EspalierError } from '../api/index.ts';
import { formatImage, type ImageName } from '../images/name.ts';
import type { Registry } from '../registry/registry.ts';
import { type CraneOptions, craneCopy } from './crane.ts';
import { placeOf, wantedDigest } from './find-source.ts';
import type { Outcome } from './outcome.ts';

export interface ToRegistry {
  registry: Registry;
  /** Found or built only when something is missing. */
  crane(): Promise<CraneOptions>;
  platform: string | undefined;
  dryRun: boolean;
  signal: AbortSignal;
}

/** Brings an image to where it is to be pulled from, unless it is there: what is pinned is not even asked for at its source. */
export async function mirrorImage(
  { registry, crane, platform, dryRun, signal }: ToRegistry,
  from: ImageName,
  to: ImageName,
  onPart: () => void,
): Promise<{ outcome: Outcome; digest: string }> {
  const digest = await wantedDigest(registry, from, platform, signal);
  // A tag may stand for something else by now: then what is pinned is there all the same.
  const reference = from.digest ?? to.tag ?? 'latest';
  const isThere = async () => (await registry.look(placeOf(to), reference, signal))?.digest === digest;
  if (await isThere()) return { outcome: { state: 'there' }, digest };
  if (dryRun) return { outcome: { state: 'missing' }, digest };
  const target = `${to.name}:${to.tag ?? 'latest'}`;
  await craneCopy(await crane(), { from: formatImage({ name: from.name, digest }), to: target, signal, onPart });
  if (await isThere()) return { outcome: { state: 'copied' }, digest };
  throw new EspalierError(
    'ImageDamaged',
    `${target} was copied, but is not ${digest} there; does somebody else write to it?`,
  );
}
