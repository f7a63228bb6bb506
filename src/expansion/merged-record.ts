import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EspalierError } from '../api/index.ts';
import { type Expansion, readExpansion } from './format.ts';
import { writeWhole } from './place.ts';

/** What a data folder says of the expansion that was merged into it: a copy of its `expansion.yaml`. */
export interface MergedRecord {
  file: string;
  before: Buffer | undefined;
}

/** Refuses a second expansion: their hooks and conditions would mix. Another version of the same one may come. */
export async function recordFor(expansion: Expansion, folder: string): Promise<MergedRecord> {
  const file = join(folder, 'backup', 'expansion.yaml');
  const before = await readFile(file).catch(() => undefined);
  const known = before === undefined ? undefined : readExpansion(before);
  if (known?.isReadable !== true || known.expansion.expansion_name === expansion.expansion_name)
    return { file, before };
  const [there, comes] = [nameOf(known.expansion), nameOf(expansion)];
  throw new EspalierError(
    'CommandRefused',
    `${there} is merged into ${folder} already, and a platform takes one at a time: ${comes} is refused. Once nothing of ${there} is left there and in the installer's file, delete ${file}`,
    { retry: false },
  );
}

export async function keepRecord({ file, before }: MergedRecord, text: Uint8Array): Promise<void> {
  if (before?.equals(text) !== true) await writeWhole(file, text, 0o644);
}

function nameOf({ expansion_name: name, expansion_version: version }: Expansion): string {
  if (name === undefined) return 'an expansion without a name';
  return version === undefined ? `expansion ${name}` : `expansion ${name} ${version}`;
}
