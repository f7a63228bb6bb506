import { createHash } from 'node:crypto';
import { isError } from '../api/index.ts';
import type { ChartYaml } from '../charts/chart-yaml.ts';
import { inspectBytes } from '../charts/inspect.ts';
import { DEFAULT_LIMITS } from '../charts/limits.ts';
import { memberPath, type TarMember } from '../charts/tar-read.ts';
import { faultOf } from './fault.ts';
import { EXPANSION_FILE } from './format.ts';
import { hashed } from './hashed.ts';
import { whyNoScript } from './hook-text.ts';
import { readImages } from './images-archive.ts';
import { membersOf } from './members.ts';
import { whyUnsafe } from './names.ts';
import { SUMS_FILE } from './sums.ts';
import { type Contents, IMAGES_FILE, type Verified, verifyPackage } from './verify.ts';

const MiB = 1024 * 1024;
const SMALL = MiB;
const MOST_FILES = 10_000;
/** All together, for they are in memory until they are written. */
const MOST_PLACED = 512 * MiB;
/** What is put somewhere as a file of its own. */
const PLACED = /^(files|hooks|provider)\//;

export interface CheckOptions {
  /** Where it is none of a folder or a .tgz: what it holds. */
  members?: AsyncIterable<TarMember>;
  /** Sums every layer of the image archive, as pushing needs it. */
  digests?: boolean;
  /** Takes the files that a merge puts somewhere, by their paths. Charts and images are left unread then, whatever their size. */
  placed?: Map<string, Uint8Array>;
}

export type Checked = Verified & { contents: Contents };

/** Everything that is wrong with the package in a folder or .tgz. Reads it once, with bounded memory. */
export async function checkPackage(path: string, options: CheckOptions = {}): Promise<Checked> {
  const contents = await examine(options.members ?? membersOf(path), options);
  return { ...verifyPackage(contents), contents };
}

async function examine(members: AsyncIterable<TarMember>, options: CheckOptions): Promise<Contents> {
  const contents: Contents = {
    text: undefined,
    files: new Map(),
    images: undefined,
    charts: new Map(),
    sums: undefined,
    faults: [],
    cutOff: false,
  };
  try {
    for await (const member of members) {
      if (contents.files.size >= MOST_FILES || contents.faults.length >= MOST_FILES) {
        contents.cutOff = true;
        contents.faults.push(
          faultOf(EXPANSION_FILE, `the package holds more than ${MOST_FILES} files: no expansion does`),
        );
        break;
      }
      await examineMember(member, contents, options);
    }
  } catch (error) {
    const why = whyDamaged(error);
    if (why === undefined) throw error;
    contents.cutOff = true;
    contents.faults.push(faultOf('.', `the package is damaged or cut off: ${why}. Fetch it, or build it, again`));
  }
  return contents;
}

async function examineMember(
  member: TarMember,
  contents: Contents,
  { digests = false, placed }: CheckOptions,
): Promise<void> {
  const { type, kind, size } = member;
  const path = memberPath(member.path);
  if (path === '') return;
  const refuse = (message: string): void => {
    contents.faults.push(faultOf(path, message));
  };
  const unsafe = whyUnsafe(path);
  if (unsafe !== undefined) return refuse(`the path ${unsafe}`);
  if (type === 'folder') return;
  if (type !== 'file') return refuse(`is ${kind}; only regular files are allowed: put the file itself there`);
  if (contents.files.has(path)) return refuse('is in the package twice: remove one');
  const hash = createHash('sha256');
  contents.files.set(path, { size, sha256: '' });
  if (placed !== undefined && (path === IMAGES_FILE || path.startsWith('charts/'))) return;
  const content = hashed(member.content(), hash);
  if (path === IMAGES_FILE) {
    const { images, faults } = await readImages(content, digests);
    contents.images = images;
    contents.faults.push(...faults);
  } else if (path === EXPANSION_FILE || path === SUMS_FILE || path.startsWith('hooks/')) {
    const bytes = await gather(content, SMALL);
    if (bytes === undefined) refuse(`has ${size} bytes; ${SMALL} are allowed: make it smaller`);
    else if (path === EXPANSION_FILE) contents.text = bytes;
    else if (path === SUMS_FILE) contents.sums = bytes.toString('utf8');
    else {
      placed?.set(path, bytes);
      const wrong = whyNoScript(bytes);
      if (wrong !== undefined) contents.faults.push({ ...faultOf(path, wrong.message), line: wrong.line });
    }
  } else if (/^charts\/[^/]+\.tgz$/.test(path)) {
    const bytes = await gather(content, DEFAULT_LIMITS.archiveBytes);
    if (bytes === undefined) refuse(`has ${size} bytes; ${DEFAULT_LIMITS.archiveBytes} are allowed: make it smaller`);
    else {
      const found = await chartIn(bytes);
      if (typeof found === 'string') refuse(found);
      else contents.charts.set(path, found);
    }
  } else if (placed !== undefined && PLACED.test(path)) {
    const left = [...placed.values()].reduce((total, { length }) => total - length, MOST_PLACED);
    const bytes = await gather(content, left);
    if (bytes === undefined) refuse(`has ${size} bytes; all that is placed may have ${MOST_PLACED}: make it smaller`);
    else placed.set(path, bytes);
  } else for await (const _ of content);
  contents.files.set(path, { size, sha256: hash.digest('hex') });
}

/** Undefined for what is larger; it is read to its end even so. */
async function gather(content: AsyncIterable<Uint8Array>, most: number): Promise<Buffer | undefined> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of content) {
    size += part.length;
    if (size <= most) parts.push(part);
    else parts = [];
  }
  return size <= most ? Buffer.concat(parts) : undefined;
}

/** Or why it is none. */
async function chartIn(bytes: Buffer): Promise<ChartYaml | string> {
  try {
    return (await inspectBytes(bytes, DEFAULT_LIMITS)).chart;
  } catch (error) {
    if (isError(error, 'ChartRefused')) return `does not load as a chart: ${error.message}`;
    throw error;
  }
}

/** Of the archive, not of this machine: those errors are thrown on. */
function whyDamaged(error: unknown): string | undefined {
  if (isError(error, 'ChartRefused')) return 'it is no tar, or not a whole one';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('Z_') ? 'it is no gzip, or not a whole one' : undefined;
}
