import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

export interface Pushed {
  /** `127.0.0.1:34567/team/app:1` */
  image: string;
  digest: string;
}

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const INDEX = 'application/vnd.oci.image.index.v1+json';

/** An image from scratch: a config and one layer, which `seed` makes like no other. */
export async function pushImage(
  host: string,
  name: string,
  seed: string,
  options: { platform?: string; authorization?: string } = {},
): Promise<Pushed & { size: number }> {
  const [repository = '', tag] = name.split(':');
  const [os, architecture] = (options.platform ?? 'linux/amd64').split('/');
  const layer = gzipSync(Buffer.from(`layer of ${seed}`.padEnd(4096, '.')));
  const diff = digestOf(Buffer.from(seed));
  const config = Buffer.from(JSON.stringify({ os, architecture, rootfs: { type: 'layers', diff_ids: [diff] } }));
  const parts = [
    { mediaType: 'application/vnd.oci.image.config.v1+json', bytes: config },
    { mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', bytes: layer },
  ].map(({ mediaType, bytes }) => ({ mediaType, bytes, digest: digestOf(bytes), size: bytes.length }));
  for (const { bytes, digest } of parts) await pushBlob(host, repository, bytes, digest, options.authorization);
  const [first, ...layers] = parts.map(({ bytes: _, ...descriptor }) => descriptor);
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: MANIFEST, config: first, layers }));
  const digest = digestOf(manifest);
  await pushManifest(host, repository, tag ?? digest, manifest, MANIFEST, options.authorization);
  return { image: `${host}/${name}`, digest, size: manifest.length };
}

/** One image for two platforms. */
export async function pushIndex(host: string, name: string, seed: string): Promise<Pushed & { children: string[] }> {
  const [repository = '', tag = ''] = name.split(':');
  const platforms = ['linux/amd64', 'linux/arm64'];
  const manifests = await Promise.all(
    platforms.map(async (platform) => {
      const { digest, size } = await pushImage(host, repository, `${seed} ${platform}`, { platform });
      const [os, architecture] = platform.split('/');
      return { mediaType: MANIFEST, digest, size, platform: { os, architecture } };
    }),
  );
  const index = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests }));
  await pushManifest(host, repository, tag, index, INDEX);
  return { image: `${host}/${name}`, digest: digestOf(index), children: manifests.map(({ digest }) => digest) };
}

/** What a registry says that a tag or digest is; undefined for nothing. */
export async function digestAt(host: string, name: string, reference: string): Promise<string | undefined> {
  const headers = { accept: `${MANIFEST}, ${INDEX}` };
  const answer = await fetch(`http://${host}/v2/${name}/manifests/${reference}`, { method: 'HEAD', headers });
  return answer.status === 200 ? (answer.headers.get('docker-content-digest') ?? undefined) : undefined;
}

export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

async function pushBlob(
  host: string,
  repository: string,
  bytes: Buffer,
  digest: string,
  authorization = '',
): Promise<void> {
  const begun = await fetch(`http://${host}/v2/${repository}/blobs/uploads/`, {
    method: 'POST',
    headers: { authorization },
  });
  const to = new URL(begun.headers.get('location') ?? '', `http://${host}`);
  to.searchParams.set('digest', digest);
  const headers = { authorization, 'content-type': 'application/octet-stream' };
  const ended = await fetch(to, { method: 'PUT', headers, body: new Uint8Array(bytes) });
  assert.equal(ended.status, 201);
}

async function pushManifest(
  host: string,
  repository: string,
  reference: string,
  bytes: Buffer,
  type: string,
  authorization = '',
): Promise<void> {
  const headers = { authorization, 'content-type': type };
  const url = `http://${host}/v2/${repository}/manifests/${reference}`;
  const { status } = await fetch(url, { method: 'PUT', headers, body: new Uint8Array(bytes) });
  assert.equal(status, 201);
}
