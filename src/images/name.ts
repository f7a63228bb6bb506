/** An image as people write it, in its parts: `docker.io/library/nginx`, `1.27`, `sha256:…`. */
export interface ImageName {
  /** With its registry. */
  name: string;
  tag?: string;
  digest?: string;
}

const DOCKER_HUB = 'docker.io';
const NAME = /^[a-zA-Z0-9.-]+(?::\d+)?(?:\/[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*)+$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** `nginx` is `docker.io/library/nginx`: what stands before the first slash is a registry only if it looks like a host. */
export function fullName(name: string): string {
  const [first = '', ...rest] = name.split('/');
  if (rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')) {
    const path = rest.join('/');
    if (first !== 'index.docker.io' && first !== DOCKER_HUB) return name;
    return `${DOCKER_HUB}/${rest.length === 1 ? 'library/' : ''}${path}`;
  }
  return rest.length === 0 ? `${DOCKER_HUB}/library/${name}` : `${DOCKER_HUB}/${name}`;
}

/** The name, and the tag and digest behind it as they are written. */
export function splitImage(image: string): { name: string; suffix: string } {
  const digest = image.indexOf('@');
  const end = digest < 0 ? image.length : digest;
  const colon = image.lastIndexOf(':', end - 1);
  const cut = colon > image.lastIndexOf('/', end - 1) ? colon : end;
  return { name: image.slice(0, cut), suffix: image.slice(cut) };
}

/** Undefined for what no registry could have. Without tag and digest the tag is `latest`, as it is for everybody. */
export function parseImage(image: string): ImageName | undefined {
  const { name: written, suffix } = splitImage(image);
  const name = fullName(written);
  const [, tag, digest] = /^(?::([^@]*))?(?:@(.*))?$/s.exec(suffix) ?? [];
  if (written === '' || !NAME.test(name) || name.length > 255) return undefined;
  if (tag !== undefined && !TAG.test(tag)) return undefined;
  if (digest !== undefined && !DIGEST.test(digest)) return undefined;
  if (tag === undefined && digest === undefined) return { name, tag: 'latest' };
  return { name, ...(tag === undefined ? {} : { tag }), ...(digest === undefined ? {} : { digest }) };
}

/** `docker.io/library/nginx:1.27@sha256:…` */
export function formatImage({ name, tag, digest }: ImageName): string {
  return `${name}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
}
