import { gunzipSync } from 'node:zlib';
import { type Member, sha256, tgz } from '../../charts/support/archives.ts';

/** One layer that `seed` makes like no other, and the config that names it. */
export function imageParts(seed: string): { layer: Buffer; config: Buffer } {
  const layer = gunzipSync(tgz([{ path: 'etc/motd', data: seed }]));
  const rootfs = { type: 'layers', diff_ids: [sha256(layer)] };
  return { layer, config: Buffer.from(JSON.stringify({ architecture: 'amd64', os: 'linux', rootfs })) };
}

/** As `docker save` wrote it for years: a folder a layer, and a link where images share one. */
export function dockerMembers(...images: [tag: string, seed: string][]): Member[] {
  const members: Member[] = [];
  const folders = new Map<string, string>();
  const items = images.map(([tag, seed], index) => {
    const { layer, config } = imageParts(seed);
    const folder = `${index}${sha256(layer).slice(8)}`;
    const shared = folders.get(seed);
    const link = { flag: '2', link: `../${shared}/layer.tar` };
    members.push({ path: `${folder}/layer.tar`, ...(shared === undefined ? { data: layer } : link) });
    members.push({ path: `${folder}.json`, data: config });
    folders.set(seed, shared ?? folder);
    return { Config: `${folder}.json`, RepoTags: [tag], Layers: [`${folder}/layer.tar`] };
  });
  return [...members, { path: 'manifest.json', data: JSON.stringify(items) }];
}

export function dockerArchive(...tags: string[]): Buffer {
  return tgz(dockerMembers(...tags.map((tag): [string, string] => [tag, tag])));
}

/** An OCI layout with one image under that name. */
export function layoutMembers(name: string): Member[] {
  const { layer, config } = imageParts(name);
  const [type, blob] = ['application/vnd.oci.image', (data: Buffer) => `blobs/${sha256(data).replace(':', '/')}`];
  const described = (mediaType: string, data: Buffer) => ({ mediaType, digest: sha256(data), size: data.length });
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: `${type}.manifest.v1+json`,
      config: described(`${type}.config.v1+json`, config),
      layers: [described(`${type}.layer.v1.tar`, layer)],
    }),
  );
  const annotations = { 'org.opencontainers.image.ref.name': name };
  const index = { schemaVersion: 2, manifests: [{ ...described(`${type}.manifest.v1+json`, manifest), annotations }] };
  return [
    { path: 'oci-layout', data: '{"imageLayoutVersion":"1.0.0"}' },
    { path: blob(manifest), data: manifest },
    { path: blob(config), data: config },
    { path: blob(layer), data: layer },
    { path: 'index.json', data: JSON.stringify(index) },
  ];
}
