import { formatImage, parseImage } from '../images/name.ts';
import type { ImageRule } from '../images/rules.ts';
import { placeOf } from '../mirror/find-source.ts';
import type { Result } from '../mirror/outcome.ts';
import type { NamedImage } from './images-index.ts';
import type { ImageJob } from './push-images.ts';

/** Where the images of a package go, what can't go anywhere, and the rules by which a cluster finds them there. */
export interface ImageTargets {
  jobs: ImageJob[];
  failed: Result[];
  rules: ImageRule[];
}

/** Each image below `to` by its name without its own registry: `docker.io/demo/alpine:3.10` is `<to>/demo/alpine:3.10`. */
export function imageTargets(images: readonly NamedImage[], to: string): ImageTargets {
  const base = to.replace(/\/+$/, '');
  const jobs = new Map<string, ImageJob>();
  const failed: Result[] = [];
  const rules = new Map<string, ImageRule>();
  for (const image of images) {
    const { name, root } = image;
    const from = parseImage(name);
    const fail = (why: string, shown = '-'): void => {
      failed.push({ kind: 'image', from: name, to: shown, outcome: { state: 'failed', why } });
    };
    if (from === undefined || root === undefined) {
      fail('is no name of an image, or nothing whole stands for it');
      continue;
    }
    const host = placeOf(from).host;
    const isThere = from.name.startsWith(`${base}/`);
    const target = isThere ? from.name : `${base}/${placeOf(from).repository}`;
    const reference = from.tag ?? from.digest ?? 'latest';
    const shown = formatImage({ ...from, name: target });
    const other = jobs.get(shown);
    if (from.digest !== undefined && from.digest !== root.digest)
      fail(`is ${root.digest} in the archive; save it by its tag`, shown);
    else if (other !== undefined && other.image.root.digest !== root.digest)
      fail(`${other.from} goes to the same place and is another image; name one of them otherwise`, shown);
    else {
      if (!isThere) rules.set(host, { from: host, to: base });
      jobs.set(shown, {
        image: { ...image, root },
        from: name,
        to: shown,
        place: placeOf({ name: target }),
        reference,
      });
    }
  }
  return { jobs: [...jobs.values()], failed, rules: [...rules.values()] };
}
