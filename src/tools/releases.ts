import type { Platform } from './platform.ts';

/** Where a publisher tells the sha256 of a file. A sum that we hold ourselves beats what any server says. */
export type Proof =
  | { kind: 'pinned'; sha256: string }
  | { kind: 'list'; url: string }
  | { kind: 'github'; url: string };

/** One file that a publisher offers for a platform. */
export interface Release {
  url: string;
  proof: Proof;
  /** The program's path when the file is a tar archive; without it, the file is the program. */
  member?: string;
}

/** What a publisher offers, and for which systems (always for amd64 and arm64). */
export interface Offer {
  systems: readonly string[];
  at(platform: Platform, version: string): Release;
  /** By `linux/amd64`, for the version in the table alone. */
  pinned?: Readonly<Record<string, string>>;
}

export function releaseOf(
  tool: { version: string; offer: Offer },
  platform: Platform,
  version: string,
): Release | undefined {
  const { offer } = tool;
  if (!offer.systems.includes(platform.os) || !['amd64', 'arm64'].includes(platform.arch)) return undefined;
  const release = offer.at(platform, version);
  const sha256 = version === tool.version ? offer.pinned?.[`${platform.os}/${platform.arch}`] : undefined;
  return sha256 === undefined ? release : { ...release, proof: { kind: 'pinned', sha256 } };
}

interface GithubFile {
  repository: string;
  tag: string;
  file: string;
  /** A file of sums in the same release. Without one, the digest that GitHub computed counts. */
  sums?: string;
  member?: string;
}

export function githubRelease({ repository, tag, file, sums, member }: GithubFile): Release {
  const folder = `https://github.com/${repository}/releases/download/${encodeURIComponent(tag)}`;
  const about = `https://api.github.com/repos/${repository}/releases/tags/${encodeURIComponent(tag)}`;
  return {
    url: `${folder}/${file}`,
    proof: sums === undefined ? { kind: 'github', url: about } : { kind: 'list', url: `${folder}/${sums}` },
    ...(member === undefined ? {} : { member }),
  };
}

/** A file whose sum lies beside it. */
export function besideItsSum(url: string, ending: string, member?: string): Release {
  return { url, proof: { kind: 'list', url: `${url}${ending}` }, ...(member === undefined ? {} : { member }) };
}
