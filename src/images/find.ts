import { type ImageField, mapFields, type Rewrite } from './fields.ts';

const CONTAINER_LISTS = new Set(['containers', 'initContainers', 'ephemeralContainers']);

/** An image, and where in its object: `/spec/template/spec/containers/0/image`. */
export interface FoundImage {
  image: string;
  path: string;
}

/**
 * A copy of an object in which every container's image, every image that is mounted as a volume, and every image in one
 * of the given fields is what `rewrite` makes of it. Containers are known by the names of their lists, in whatever kind
 * they are: custom kinds hold pods too.
 */
export function mapImages<T>(object: T, rewrite: Rewrite, fields: readonly ImageField[] = []): T {
  const seen = fields.length === 0 ? undefined : new Set<string>();
  const once: Rewrite =
    seen === undefined
      ? rewrite
      : (image, path) => {
          seen.add(path);
          return rewrite(image, path);
        };
  const mapped = mapContainers(object, undefined, once) as T; // nothing but the text of images differs
  if (seen === undefined) return mapped;
  // A field that is a container's own is not rewritten a second time.
  return mapFields(mapped, fields, (image, path) => (seen.has(path) ? image : rewrite(image, path)));
}

/** Every image that `mapImages` would ask about. */
export function findImages(object: unknown, fields: readonly ImageField[] = []): FoundImage[] {
  const found: FoundImage[] = [];
  mapImages(
    object,
    (image, path) => {
      found.push({ image, path });
      return image;
    },
    fields,
  );
  return found;
}

/** The same of many objects: each image once, sorted. */
export function imagesIn(objects: unknown, fields: readonly ImageField[] = []): string[] {
  const each = Array.isArray(objects) ? objects : [objects];
  return [...new Set(each.flatMap((object) => findImages(object, fields).map(({ image }) => image)))].toSorted();
}

/** The way to a value, from its end: as text it is written only where there is an image. */
interface Way {
  name: string | number;
  from: Way | undefined;
}

function mapContainers(value: unknown, way: Way | undefined, rewrite: Rewrite): unknown {
  if (Array.isArray(value)) return mapItems(value, way, (item, to) => mapContainers(item, to, rewrite));
  if (!isMap(value)) return value;
  let copy: Record<string, unknown> | undefined;
  for (const [name, field] of Object.entries(value)) {
    if (typeof field !== 'object' || field === null) continue;
    const to = { name, from: way };
    const items =
      Array.isArray(field) && CONTAINER_LISTS.has(name)
        ? mapItems(field, to, (item, at) => setText(item, 'image', at, rewrite))
        : field;
    const mounted =
      Array.isArray(items) && name === 'volumes'
        ? mapItems(items, to, (item, at) => mapMounted(item, at, rewrite))
        : items;
    const mapped = mapContainers(mounted, to, rewrite);
    if (mapped === field) continue;
    copy ??= { ...value };
    copy[name] = mapped;
  }
  return copy ?? value;
}

function mapMounted(volume: unknown, way: Way, rewrite: Rewrite): unknown {
  if (!isMap(volume) || !isMap(volume.image)) return volume;
  const image = setText(volume.image, 'reference', { name: 'image', from: way }, rewrite);
  return image === volume.image ? volume : { ...volume, image };
}

function setText(value: unknown, field: string, way: Way, rewrite: Rewrite): unknown {
  if (!isMap(value)) return value;
  const text = value[field];
  if (typeof text !== 'string' || text === '') return value;
  const changed = rewrite(text, pointer({ name: field, from: way }));
  return changed === text ? value : { ...value, [field]: changed };
}

/** The same list when nothing in it changed. */
function mapItems(
  list: readonly unknown[],
  way: Way | undefined,
  map: (item: unknown, to: Way) => unknown,
): readonly unknown[] {
  const mapped = list.map((item, index) => map(item, { name: index, from: way }));
  return mapped.some((item, index) => item !== list[index]) ? mapped : list;
}

function pointer({ name, from }: Way): string {
  const segment = String(name).replaceAll('~', '~0').replaceAll('/', '~1');
  return `${from === undefined ? '' : pointer(from)}/${segment}`;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
