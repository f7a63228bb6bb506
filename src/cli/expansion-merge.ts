import { isUtf8 } from 'node:buffer';
import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import { EspalierError } from '../api/errors.ts';
import { editsDiff } from '../expansion/edits-diff.ts';
import type { Expansion } from '../expansion/format.ts';
import { type Merged, mergeInto } from '../expansion/merge.ts';
import { backupOf, placementsOf, wantedOf } from '../expansion/merge-plan.ts';
import { keepRecord, recordFor } from '../expansion/merged-record.ts';
import { lookAt, type Placed, putInPlace, writeWhole } from '../expansion/place.ts';
import { lineDiff } from '../plan/line-diff.ts';
import { plain, plainLines } from '../plan/plain.ts';
import { ExitCode } from './exit.ts';
import { printFaults } from './expansion-faults.ts';
import { PACKAGE_ARGUMENT, withMembers, withRegistry } from './expansion-place.ts';
import { interruptible } from './interruptible.ts';
import type { WireFlags } from './mirror-tools.ts';
import { withColor } from './options.ts';
import { print, say } from './print.ts';

interface Flags extends WireFlags {
  into: string;
  dataDir?: string;
  write?: true;
}

const ABOUT = `
[package] is a folder, a .tgz or a package in a registry. Its skip steps, files and conditions are joined into the
installer's file, without duplicates; every other byte of it stays. Its files, hooks and provider files go into the data
folder, those that end in .tmpl rendered with the package's values; what they override is kept in <data-dir>/backup.
Without a package nothing changes.

Without --write nothing is written: what would be is printed. Nor is anything of a package with faults: they are told as
"check" does, but charts and images stay unread.

Exit code: 0 merged, or would be, 1 the package has faults, 2 failed, 64 wrong usage or an installer's file that can't take
it.

Examples:
  espalier expansion merge ./demo --into /opt/tke-installer/data/tke.json
  espalier expansion merge demo-v1.0.tgz --into tke.json --data-dir /opt/tke-installer/data --write`;

export function expansionMergeCommand(): Command {
  return withColor(withRegistry(new Command('merge')))
    .description("join an expansion into an installer's tke.json and data folder")
    .argument('[package]', PACKAGE_ARGUMENT)
    .requiredOption('--into <file>', "the installer's tke.json")
    .option('--data-dir <folder>', "the installer's data folder (default: that of the file)")
    .option('--write', 'write it; else the difference is printed alone')
    .addHelpText('after', ABOUT)
    .action(merge);
}

/** A package that was read: what it says, and what of it is written somewhere. */
interface ReadPackage {
  expansion: Expansion;
  /** Its expansion.yaml. */
  text: Uint8Array;
  contents: ReadonlyMap<string, Uint8Array>;
}

async function merge(location: string | undefined, flags: Flags): Promise<void> {
  if (location === undefined) return say('no package: nothing changes');
  const { checkPackage } = await import('../expansion/examine.ts');
  const placed = new Map<string, Uint8Array>();
  const { expansion, faults, contents } = await withMembers(location, flags, (members) =>
    checkPackage(location, { members: members(), placed }),
  );
  const { text } = contents;
  if (faults.length === 0 && text !== undefined)
    return await mergePackage({ expansion, text, contents: placed }, flags);
  printFaults(location, faults);
  say('nothing was written');
  throw new ExitCode(1);
}

async function mergePackage(found: ReadPackage, { into, dataDir, write }: Flags): Promise<void> {
  const file = await installersFile(into);
  const text = textOf(await readFile(file), into);
  const folder = resolve(dataDir ?? dirname(into));
  const merged = mergedOrRefused(into, text, found, folder);
  const record = await recordFor(found.expansion, folder);
  const placed = await looked(found, folder);
  for (const note of merged.notes) say(`note: ${plain(note)}`);
  const patches = [editsDiff(into, text, merged.edits), ...placed.map(placedDiff)].filter((patch) => patch !== '');
  for (const patch of patches) print(plainLines(patch.replace(/\n$/, '')));
  if (patches.length === 0) say('nothing changes: all of it is there');
  else if (write !== true) say('nothing is written yet: add --write');
  if (write !== true) return;
  await interruptible(async (signal) => {
    await keepRecord(record, found.text);
    for (const one of placed) {
      signal.throwIfAborted();
      await putInPlace(one);
    }
    // Last, for it refers to what was placed. A run that is cut off is done again from its beginning.
    if (merged.edits.length > 0) await writeWhole(file, merged.text, (await stat(file)).mode & 0o777);
  });
  if (patches.length > 0) say('all of it is written');
}

/** Where a link leads, for that is what is replaced. */
async function installersFile(into: string): Promise<string> {
  const file = await realpath(into).catch(() => undefined);
  if (file === undefined || !(await stat(file)).isFile())
    throw refusal(`--into ${into}: there is no such file; name the installer's tke.json`);
  return file;
}

function mergedOrRefused(into: string, text: string, { expansion }: ReadPackage, folder: string): Merged {
  const merged = mergeInto(text, wantedOf(expansion, folder));
  if (!('faults' in merged)) return merged;
  const faults = merged.faults.map(({ line, column, message }) => `${into}:${line}:${column}: ${message}`);
  throw refusal(`nothing was written\n${faults.join('\n')}`);
}

/** Every material, rendered where it is a template, and what stands in its place. */
async function looked({ expansion, contents: given }: ReadPackage, folder: string): Promise<Placed[]> {
  const placements = placementsOf(expansion);
  const contents = new Map(given);
  const templates = placements.filter(({ isTemplate }) => isTemplate).map(({ from }) => from);
  if (templates.length > 0) {
    const [{ renderTexts }, { REAL_TOOLS }] = await Promise.all([
      import('../render/text-templates.ts'),
      import('../render/render.ts'),
    ]);
    const files = new Map(templates.map((from) => [from, contents.get(from) ?? new Uint8Array()]));
    const limits = { timeoutMs: 60_000, outputBytes: 64 * 1024 * 1024 };
    for (const [from, text] of await renderTexts({ files, values: expansion.values, ...limits }, REAL_TOOLS))
      contents.set(from, text);
  }
  return await Promise.all(
    placements.map(({ from, to, isExecutable }) =>
      lookAt({
        file: join(folder, to),
        backup: join(folder, backupOf(expansion, to)),
        content: contents.get(from) ?? new Uint8Array(),
        isExecutable,
      }),
    ),
  );
}

function placedDiff({ file, backup, before, content, outcome }: Placed): string {
  if (outcome === 'same') return '';
  const [old, now] = [before?.content ?? Buffer.alloc(0), Buffer.from(content)];
  const kept = before === undefined ? '' : ` (kept as ${backup})`;
  const head = `--- ${before === undefined ? '/dev/null' : file}${kept}\n+++ ${file}\n`;
  if (old.equals(now)) return `${head}only the mode: it becomes executable\n`;
  if (!isText(old) || !isText(now) || old.length + now.length > 1_000_000)
    return `${head}${old.length} bytes become ${now.length}\n`;
  const lines = lineDiff(old.toString(), now.toString());
  const counts = ['+', '-'].map((other) => lines.filter((line) => !line.startsWith(other)).length);
  const [from, to] = counts.map((count) => `${count === 0 ? 0 : 1},${count}`);
  return `${head}@@ -${from} +${to} @@\n${lines.join('')}`;
}

function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

function textOf(bytes: Buffer, into: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refusal(`${into} is not UTF-8, so it is no JSON; nothing was written`);
  }
}

function refusal(message: string): EspalierError {
  return new EspalierError('InvalidConfiguration', message, { retry: false });
}
