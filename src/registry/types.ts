/** A repository of a registry: `docker.io` and `library/nginx`. */
export interface Place {
  /** As people write it, with a port where it has one. */
  host: string;
  repository: string;
}

/** What a manifest says of something else. */
export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  platform?: { os: string; architecture: string; variant?: string };
  urls?: string[];
  annotations?: Record<string, string>;
}

/** Exactly the bytes that the digest is of. */
export interface Manifest {
  mediaType: string;
  digest: string;
  bytes: Uint8Array;
}

export const DIGEST = /^sha256:[0-9a-f]{64}$/;

export const MEDIA = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  dockerList: 'application/vnd.docker.distribution.manifest.list.v2+json',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
  config: 'application/vnd.oci.image.config.v1+json',
} as const;

export function isIndex(mediaType: string): boolean {
  return mediaType === MEDIA.index || mediaType === MEDIA.dockerList;
}

/** `docker.io/library/nginx` */
export function describePlace({ host, repository }: Place): string {
  return `${host}/${repository}`;
}
