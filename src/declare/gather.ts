import type { FileTree, TreeEntry } from '../git/tree.ts';
import { compileAddon } from './addon.ts';
import { claimedFolders, isClaimed } from './claims.ts';
import { faultOf, type LayerParts, type Part } from './drafts.ts';
import type { Fault } from './fault.ts';
import type { Files } from './files.ts';
import { isYaml } from './layout.ts';
import { compilePackage } from './package-folder.ts';
import type { ParsedFile } from './parse.ts';
import type { AddonFolder, Layer, PackageFolder } from './scan.ts';

/** Every document that may declare something, by layer, and everything that could not be read. */
export interface Gathered {
  layers: LayerParts[];
  faults: Fault[];
  brokenFiles: string[];
  /** What could be told of the declarations in broken files. None of it counts, and none of it may change either. */
  remains: Part[];
}

/** Reads and parses what a scan found. */
export async function gather(tree: FileTree, files: Files, layers: readonly Layer[]): Promise<Gathered> {
  const read = await Promise.all(
    layers.map(async (layer) => ({ layer, parsed: await files.parse(tree, layer.files) })),
  );
  const claims = claimedFolders(read.flatMap(({ layer, parsed }) => partsOf(layer.files, parsed)));
  const result: Gathered = { layers: [], faults: [], brokenFiles: [], remains: [] };
  for (const { layer, parsed } of read) {
    const parts: Part[] = [];
    const unmentioned: TreeEntry[] = [];
    layer.files.forEach((entry, index) => {
      const file = parsed[index];
      if (file === undefined || isClaimed(entry.path, claims)) return;
      if (file.broken !== undefined) {
        result.faults.push(faultOf({ file: entry.path }, file.broken));
        result.brokenFiles.push(entry.path);
        result.remains.push(...partsOf([entry], [file]));
      } else if (file.mentions) parts.push(...partsOf([entry], [file]));
      else unmentioned.push(entry);
    });
    await checkSyntax(tree, files, unmentioned, result);
    const addons = layer.addons.filter((addon) => !isClaimed(addon.path, claims));
    parts.push(...(await readAddons(tree, files, addons, result)));
    const packages = layer.packages.filter(({ path }) => !isClaimed(path, claims));
    parts.push(...(await readPackages(tree, files, packages, result)));
    result.layers.push({ folder: layer.folder, parts });
  }
  return result;
}

function partsOf(entries: readonly TreeEntry[], parsed: readonly ParsedFile[]): Part[] {
  return entries.flatMap((entry, index) =>
    (parsed[index]?.declarations ?? []).map((declaration) => ({ ...declaration, file: entry.path })),
  );
}

/**
 * A file that says nothing of us may have been a declaration before it broke, so it must be YAML at least. JSON has
 * dialects that are other tools' business: such a file is only remembered as unreadable.
 */
async function checkSyntax(
  tree: FileTree,
  files: Files,
  entries: readonly TreeEntry[],
  result: Gathered,
): Promise<void> {
  const faults = await files.syntaxFaults(tree, entries);
  entries.forEach((entry, index) => {
    const fault = faults[index];
    if (fault === undefined) return;
    result.brokenFiles.push(entry.path);
    if (isYaml(entry.name)) result.faults.push(faultOf({ file: entry.path }, fault));
  });
}

async function readPackages(
  tree: FileTree,
  files: Files,
  packages: readonly PackageFolder[],
  result: Gathered,
): Promise<Part[]> {
  const parsed = await files.parseAlone(
    tree,
    packages.map(({ file }) => file),
  );
  return packages.flatMap(({ path, file }, index) => {
    const { document, broken } = parsed[index] ?? {};
    const part = compilePackage(path, file.path, document);
    if (broken === undefined) return [part];
    result.faults.push(faultOf({ file: file.path }, broken));
    result.brokenFiles.push(path);
    result.remains.push(part);
    return [];
  });
}

async function readAddons(
  tree: FileTree,
  files: Files,
  addons: readonly AddonFolder[],
  result: Gathered,
): Promise<Part[]> {
  const entries = addons.flatMap(({ file }) => file ?? []);
  const parsed = new Map(
    (await files.parseAlone(tree, entries)).map((alone, index) => [entries[index]?.path, alone] as const),
  );
  const parts: Part[] = [];
  for (const { path, file } of addons) {
    const { document, broken } = parsed.get(file?.path) ?? {};
    const part = compileAddon(
      path,
      file === undefined || document === undefined ? undefined : { file: file.path, document },
    );
    if (broken === undefined) {
      parts.push(part);
      continue;
    }
    result.faults.push(faultOf({ file: file?.path ?? path }, broken));
    result.brokenFiles.push(path);
    result.remains.push(part);
  }
  return parts;
}
