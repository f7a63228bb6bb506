import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf } from '../api/errors.ts';
import { extractMember } from './archive.ts';
import { githubDigestFor, sumFor } from './checksum.ts';
import { type Fetched, type FetchOptions, fetchFile, fetchText } from './fetch.ts';
import type { ReportProgress } from './progress.ts';
import { isUnreachable, rememberUnreachable } from './reach.ts';
import { type Proof, type Release, releaseOf } from './releases.ts';
import type { Surroundings } from './surroundings.ts';
import type { Tool } from './table.ts';
import { versionOf } from './version.ts';

export type Downloaded = { ok: true } | { ok: false; why: string; forged?: boolean };

const LARGEST_FILE = 512 * 1024 * 1024;

/**
 * Puts a program from its publisher into `folder`, under its name. What does not have the publisher's sum is thrown
 * away before anything is unpacked or run.
 */
export async function download(
  tool: Tool,
  version: string,
  folder: string,
  surroundings: Surroundings,
  options: { signal?: AbortSignal | undefined; progress: ReportProgress },
): Promise<Downloaded> {
  const { platform, env } = surroundings;
  const release = releaseOf(tool, platform, version);
  if (release === undefined) return { ok: false, why: `none is published for ${platform.os}/${platform.arch}` };
  const subject = `${tool.name} ${version}`;
  const onProgress = (done: number, total: number | undefined) =>
    options.progress({ subject, step: 'downloading', done, total, unit: 'bytes', detail: new URL(release.url).host });
  const fetching = { env, signal: options.signal, maxBytes: LARGEST_FILE };
  const sum = await publishedSum(release, surroundings, fetching);
  if (!sum.ok) return sum;
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'download');
  const fetched = await reaching(release.url, surroundings, (url) => fetchFile(url, file, { ...fetching, onProgress }));
  if (!fetched.ok) return fetched;
  if (fetched.value !== sum.value) {
    await rm(file, { force: true });
    const why = `${release.url} has sha256 ${fetched.value}, but its publisher says ${sum.value}: refused`;
    return { ok: false, why, forged: true };
  }
  return unpack(tool, version, release, file, join(folder, tool.name), options.signal);
}

async function publishedSum(
  release: Release,
  surroundings: Surroundings,
  fetching: FetchOptions,
): Promise<Fetched<string>> {
  const { proof } = release;
  if (proof.kind === 'pinned') return { ok: true, value: proof.sha256 };
  const list = await reaching(proof.url, surroundings, (url) => fetchText(url, fetching));
  if (!list.ok) return { ...list, why: `no checksum: ${list.why}` };
  const sum = sumIn(proof, decodeURIComponent(basename(release.url)), list.value);
  if (sum !== undefined) return { ok: true, value: sum };
  return { ok: false, why: `${proof.url} holds no checksum of ${basename(release.url)}`, unreachable: false };
}

function sumIn(proof: Proof, file: string, text: string): string | undefined {
  return proof.kind === 'github' ? githubDigestFor(file, text) : sumFor(file, text);
}

/** Asks only hosts that were not found silent a moment ago, and remembers those that are. */
async function reaching<T>(
  address: string,
  { cache, rewriteUrl = (url: URL) => url }: Surroundings,
  fetch: (url: URL) => Promise<Fetched<T>>,
): Promise<Fetched<T>> {
  const url = rewriteUrl(new URL(address));
  if (await isUnreachable(cache, url.origin)) {
    return { ok: false, why: `${url.host} could not be reached a few minutes ago`, unreachable: true };
  }
  const fetched = await fetch(url);
  if (!fetched.ok && fetched.unreachable) await rememberUnreachable(cache, url.origin);
  return fetched;
}

async function unpack(
  tool: Tool,
  version: string,
  release: Release,
  file: string,
  program: string,
  signal: AbortSignal | undefined,
): Promise<Downloaded> {
  try {
    if (release.member === undefined) await rename(file, program);
    else await extractMember(file, release.member, program);
    await rm(file, { force: true });
    await chmod(program, 0o755);
  } catch (error) {
    return { ok: false, why: `${release.url} can't be unpacked: ${messageOf(error)}` };
  }
  const found = await versionOf(program, tool.ask, signal);
  if (found === version) return { ok: true };
  return { ok: false, why: `what ${release.url} holds tells version ${found ?? 'none'} here` };
}
