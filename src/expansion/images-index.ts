/** The two ways in which an archive of images says what is in it. */
export interface Indexes {
  /** `manifest.json` of a docker-archive. */
  docker?: string;
  /** `index.json` of an OCI layout. */
  oci?: string;
}

const CONTAINERD_NAME = 'io.containerd.image.name';
const REF_NAME = 'org.opencontainers.image.ref.name';

/** The names of the images, without duplicates, and what the archive lacks of them. An archive may be both kinds at once. */
export function imagesIn(
  { docker, oci }: Indexes,
  paths: ReadonlySet<string>,
): { images: string[] | undefined; faults: string[] } {
  if (docker === undefined && oci === undefined)
    return { images: undefined, faults: ['holds neither manifest.json (docker-archive) nor index.json (OCI layout)'] };
  const images = new Set<string>();
  const faults = new Set<string>();
  const need = (image: string, path: unknown): void => {
    if (typeof path === 'string' && !paths.has(path)) faults.add(`lacks ${path.slice(0, 200)} of ${image}`);
  };
  for (const item of itemsOf(docker, 'manifest.json', (json) => json, faults)) {
    const tags = Array.isArray(item.RepoTags) ? item.RepoTags.filter((tag) => typeof tag === 'string') : [];
    for (const tag of tags) images.add(tag);
    const name = tags[0] ?? 'an image without a name';
    for (const path of [item.Config, ...(Array.isArray(item.Layers) ? item.Layers : [])]) need(name, path);
  }
  for (const item of itemsOf(oci, 'index.json', manifestsOf, faults)) {
    const said = isMap(item.annotations) ? item.annotations : {};
    const name = said[CONTAINERD_NAME] ?? said[REF_NAME];
    if (typeof name === 'string') images.add(name);
    if (typeof item.digest === 'string')
      need(typeof name === 'string' ? name : 'an image without a name', `blobs/${item.digest.replace(':', '/')}`);
  }
  return { images: [...images], faults: [...faults] };
}

function manifestsOf(json: unknown): unknown {
  return isMap(json) ? json.manifests : undefined;
}

function itemsOf(
  text: string | undefined,
  file: string,
  pick: (json: unknown) => unknown,
  faults: Set<string>,
): Record<string, unknown>[] {
  if (text === undefined) return [];
  try {
    const items = pick(JSON.parse(text));
    if (Array.isArray(items)) return items.filter(isMap);
  } catch {
    // Said below.
  }
  faults.add(`has a ${file} that lists no images`);
  return [];
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
