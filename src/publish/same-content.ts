import { Readable } from 'node:stream';
import { canonicalJson } from '../api/index.ts';
import { Budget, inflated } from '../charts/budget.ts';
import { DEFAULT_LIMITS } from '../charts/limits.ts';
import { readTar } from '../charts/tar-read.ts';
import { loadText, mapIn } from '../charts/text-yaml.ts';

const ARCHIVE = /^((?:.*\/)?charts\/)[^/]+\.tgz$/;
/** Helm writes these anew when it packages, in its own words. */
const IN_HELMS_WORDS = /(^|\/)Chart\.yaml$/;
/** Fields that say this are left out when Helm writes them. */
const EMPTY = new Set(['', 'null', 'false']);
const TELLS_THE_TIME = /(^|\/)(Chart|requirements)\.lock$/;

/**
 * The files by which two archives of a chart differ. `helm package` gives other bytes for the same chart each time: times,
 * the order of files, charts in it unpacked, Chart.yaml written anew. None of that counts.
 */
export async function differingFiles(one: Uint8Array, other: Uint8Array): Promise<string[]> {
  const [a, b] = await Promise.all([contentOf(one), contentOf(other)]);
  return [...new Set([...a.keys(), ...b.keys()])].filter((path) => a.get(path) !== b.get(path)).sort();
}

async function contentOf(archive: Uint8Array): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  await addFiles(archive, '', new Budget(archive.length, DEFAULT_LIMITS), files, 1);
  return files;
}

async function addFiles(
  archive: Uint8Array,
  folder: string,
  budget: Budget,
  files: Map<string, string>,
  depth: number,
): Promise<void> {
  const entries = readTar(inflated(Readable.from([Buffer.from(archive)]), budget), {
    maxFileBytes: DEFAULT_LIMITS.fileBytes,
  });
  for await (const { path, type, data } of entries) {
    budget.countFile();
    if (type !== 'file' || data === undefined) continue;
    const [top = '', ...rest] = path.replace(/^(\.\/)+/, '').split('/');
    const inside = `${folder}${folder === '' ? '' : `${top}/`}${rest.join('/')}`;
    const [, charts] = ARCHIVE.exec(inside) ?? [];
    if (charts !== undefined && depth < DEFAULT_LIMITS.depth) await addFiles(data, charts, budget, files, depth + 1);
    else if (!TELLS_THE_TIME.test(inside))
      files.set(inside, IN_HELMS_WORDS.test(inside) ? meaning(data) : data.toString('base64'));
  }
}

function meaning(data: Buffer): string {
  const text = data.toString('utf8');
  try {
    return canonicalJson(withoutNothing(loadText(text)));
  } catch {
    return text;
  }
}

/** Helm leaves out what is empty. */
function withoutNothing(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNothing);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(mapIn(value)).map(([name, inner]) => [name, withoutNothing(inner)] as const);
  return Object.fromEntries(fields.filter(([, inner]) => !isNothing(inner)));
}

function isNothing(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return EMPTY.has(String(value));
}
