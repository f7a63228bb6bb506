import { formatImage, type ImageName, parseImage } from './name.ts';
import type { ImageRule } from './rules.ts';

export interface WantedImage {
  /** As it is named. */
  image: string;
  /** As the cluster pulls it. */
  pulled: string;
}

/** Where an image is to be. `unruled`: no rule leads the cluster there yet, and this one would. */
export type Target =
  | { from: ImageName; to: ImageName; unruled?: ImageRule; elsewhere?: string }
  /** It is pulled from where it is. */
  | { own: true }
  | { problem: string };

/**
 * Where an image is mirrored to: where the cluster pulls it from, if the rules of the Sync lead to the registry of `to`.
 * What they don't lead there goes to `to/<registry>/<name>`, and the rule that makes the cluster pull it there is told.
 */
export function targetOf({ image, pulled }: WantedImage, to: string | undefined): Target {
  const from = parseImage(image);
  const rewritten = parseImage(pulled);
  if (from === undefined || rewritten === undefined) return { problem: `"${image}" is no name of an image` };
  const isRewritten = rewritten.name !== from.name;
  if (to === undefined) {
    if (isRewritten) return { from, to: tagged(from, rewritten.name) };
    return { problem: `no rule of the Sync leads ${from.name} to another registry; give --to, or add a rule` };
  }
  const base = to.replace(/\/+$/, '');
  if (hostOf(rewritten.name) === hostOf(base))
    return isRewritten ? { from, to: tagged(from, rewritten.name) } : { own: true };
  const host = hostOf(from.name);
  const folder = `${base}/${host.replace(':', '-')}`;
  const target = { from, to: tagged(from, `${folder}${from.name.slice(host.length)}`) };
  return isRewritten ? { ...target, elsewhere: pulled } : { ...target, unruled: { from: host, to: folder } };
}

/** What is pinned and has no tag gets one of its digest: registries tidy away what has none. */
function tagged({ tag, digest }: ImageName, name: string): ImageName {
  return { name, tag: tag ?? (digest ?? '').replace(':', '-'), ...(digest === undefined ? {} : { digest }) };
}

function hostOf(name: string): string {
  return name.slice(0, name.includes('/') ? name.indexOf('/') : name.length);
}

/** `quay.io/team/app:1`, for people. */
export function shownImage({ name, tag }: ImageName): string {
  return formatImage({ name, ...(tag === undefined ? {} : { tag }) });
}
