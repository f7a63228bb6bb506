/** Names that begin with `from` begin with `to` instead; tags and digests stay. */
export interface ImageRule {
  readonly from: string;
  readonly to: string;
}

const CONTAINER_LISTS = new Set(['containers', 'initContainers', 'ephemeralContainers']);

/**
 * A copy of an object in which every container's image, and every image that is mounted as a volume, is what `rewrite`
 * makes of it. Containers are known by the names of their lists, in whatever kind they are: custom kinds hold pods too.
 */
export function mapImages(value: unknown, rewrite: (image: string) => string): unknown {
  if (Array.isArray(value)) return mapChanged(value, (item) => mapImages(item, rewrite));
  if (!isMap(value)) return value;
  let copy: Record<string, unknown> | undefined;
  for (const [name, field] of Object.entries(value)) {
    const items =
      Array.isArray(field) && CONTAINER_LISTS.has(name)
        ? mapChanged(field, (item) => setText(item, 'image', rewrite))
        : field;
    const mounted =
      Array.isArray(items) && name === 'volumes' ? mapChanged(items, (item) => mapMounted(item, rewrite)) : items;
    const mapped = mapImages(mounted, rewrite);
    if (mapped === field) continue;
    copy ??= { ...value };
    copy[name] = mapped;
  }
  return copy ?? value;
}

/** Every image that `mapImages` would ask about. */
export function imagesIn(value: unknown): string[] {
  const found = new Set<string>();
  mapImages(value, (image) => {
    found.add(image);
    return image;
  });
  return [...found];
}

/** The longest rule that fits decides. Undefined when none does. */
export function rewriteImage(image: string, rules: readonly ImageRule[]): string | undefined {
  const { name, suffix } = splitImage(image);
  let best: { from: string; result: string } | undefined;
  for (const rule of rules) {
    const from = rule.from.replace(/\/+$/, '');
    const fitting = [name, fullName(name)].find((one) => one === from || one.startsWith(`${from}/`));
    if (fitting === undefined || (best !== undefined && best.from.length >= from.length)) continue;
    best = { from, result: rule.to.replace(/\/+$/, '') + fitting.slice(from.length) + suffix };
  }
  return best?.result;
}

/** `nginx` is `docker.io/library/nginx`: what stands before the first slash is a registry only if it looks like a host. */
export function fullName(name: string): string {
  const [first = '', ...rest] = name.split('/');
  if (rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')) return name;
  return rest.length === 0 ? `docker.io/library/${name}` : `docker.io/${name}`;
}

function splitImage(image: string): { name: string; suffix: string } {
  const digest = image.indexOf('@');
  const end = digest < 0 ? image.length : digest;
  const colon = image.lastIndexOf(':', end - 1);
  const cut = colon > image.lastIndexOf('/', end - 1) ? colon : end;
  return { name: image.slice(0, cut), suffix: image.slice(cut) };
}

function mapMounted(volume: unknown, rewrite: (image: string) => string): unknown {
  if (!isMap(volume) || !isMap(volume.image)) return volume;
  const image = setText(volume.image, 'reference', rewrite);
  return image === volume.image ? volume : { ...volume, image };
}

function setText(value: unknown, field: string, rewrite: (text: string) => string): unknown {
  if (!isMap(value)) return value;
  const text = value[field];
  if (typeof text !== 'string' || text === '') return value;
  const changed = rewrite(text);
  return changed === text ? value : { ...value, [field]: changed };
}

/** The same list when nothing in it changed. */
function mapChanged(list: readonly unknown[], map: (item: unknown) => unknown): readonly unknown[] {
  const mapped = list.map(map);
  return mapped.some((item, index) => item !== list[index]) ? mapped : list;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
