/**
 * Where objects of a kind that is not Kubernetes' own name an image. `path` is a JSON pointer in which `*` stands for
 * every item of a list, or for every value of a map. With `registry`, `tag` or `digest` the path holds a name alone, and
 * these are the fields beside it that hold the rest.
 */
export interface ImageField {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly path: string;
  readonly registry?: string;
  readonly tag?: string;
  readonly digest?: string;
}

export type Rewrite = (image: string, path: string) => string;

type Values = Record<string, unknown>;

/** A copy of an object in which the images that the fields name are what `rewrite` makes of them. */
export function mapFields<T>(object: T, fields: readonly ImageField[], rewrite: Rewrite): T {
  return fieldsOf(object, fields).reduce((mapped, field) => mapField(mapped, field, rewrite), object);
}

function fieldsOf(object: unknown, fields: readonly ImageField[]): readonly ImageField[] {
  if (fields.length === 0 || !isMap(object)) return [];
  const { apiVersion, kind } = object;
  return fields.filter((field) => field.kind === kind && (field.apiVersion ?? apiVersion) === apiVersion);
}

function mapField<T>(object: T, field: ImageField, rewrite: Rewrite): T {
  const segments = field.path
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  return step(object, segments, '', field, rewrite) as T; // nothing but texts of images differs
}

function step(value: unknown, segments: readonly string[], at: string, field: ImageField, rewrite: Rewrite): unknown {
  const [segment = '', ...rest] = segments;
  if (Array.isArray(value)) {
    const wanted = (index: number) => segment === '*' || segment === String(index);
    const mapped = value.map((item, index) =>
      wanted(index) ? goOn(value, String(index), item, rest, at, field, rewrite).value : item,
    );
    return mapped.some((item, index) => item !== value[index]) ? mapped : value;
  }
  if (!isMap(value)) return value;
  let copy = value;
  for (const name of segment === '*' ? Object.keys(value) : [segment]) {
    if (!Object.hasOwn(value, name)) continue;
    const { value: mapped, beside } = goOn(copy, name, copy[name], rest, at, field, rewrite);
    if (mapped !== copy[name]) copy = { ...copy, [name]: mapped, ...beside };
  }
  return copy;
}

function goOn(
  parent: unknown,
  name: string,
  item: unknown,
  rest: readonly string[],
  at: string,
  field: ImageField,
  rewrite: Rewrite,
): { value: unknown; beside?: Values } {
  const path = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  if (rest.length > 0) return { value: step(item, rest, path, field, rewrite) };
  if (typeof item !== 'string' || item === '') return { value: item };
  const beside = isMap(parent) ? parent : {};
  const [registry, tag, digest] = [field.registry, field.tag, field.digest].map((one) => textAt(beside, one));
  const head = registry === undefined ? '' : `${registry}/`;
  const tail = `${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
  const image = `${head}${item}${tail}`;
  const result = rewrite(image, path);
  if (result === image) return { value: item };
  // Rules change names alone: what stands behind the name is what it was.
  const changed = result.endsWith(tail) ? result.slice(0, result.length - tail.length) : result;
  if (registry === undefined || field.registry === undefined) return { value: changed };
  const slash = changed.indexOf('/');
  return { value: changed.slice(slash + 1), beside: { [field.registry]: changed.slice(0, slash) } };
}

function textAt(values: Values, name: string | undefined): string | undefined {
  const text = name === undefined || !Object.hasOwn(values, name) ? undefined : values[name];
  return typeof text === 'string' && text !== '' ? text : undefined;
}

function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
