import { EspalierError } from '../api/index.ts';
import type { FileTree, TreeEntry } from '../git/tree.ts';
import type { Fault } from './fault.ts';
import {
  ADDON_FILES,
  ADDONS_FOLDER,
  type ClusterIdentity,
  isDeclarationFile,
  isHidden,
  isRendered,
  isYaml,
  OVERLAYS_FOLDER,
  overlayNames,
  PACKAGE_FILE,
} from './layout.ts';

export interface AddonFolder {
  path: string;
  /** Its addon.yaml, when it has one. */
  file: TreeEntry | undefined;
}

export interface PackageFolder {
  path: string;
  /** Its expansion.yaml. */
  file: TreeEntry;
}

/** The base, or one overlay: what it holds, not yet read. */
export interface Layer {
  folder: string;
  files: TreeEntry[];
  addons: AddonFolder[];
  packages: PackageFolder[];
}

export interface Scan {
  /** The base first, then the overlays of this cluster in the order in which they apply. */
  layers: Layer[];
  faults: Fault[];
}

const MAX_FILES = 20_000;
const MAX_DEPTH = 32;

/** Finds the files and folders that may declare something for this cluster. Reads folders only. */
export async function scan(tree: FileTree, root: string, cluster: ClusterIdentity): Promise<Scan> {
  const scanner = new Scanner(tree);
  const base = await scanner.layer(root, true);
  const layers = [base];
  for (const overlay of await scanner.overlays(root, cluster)) layers.push(await scanner.layer(overlay, false));
  return { layers, faults: scanner.faults };
}

class Scanner {
  readonly faults: Fault[] = [];
  readonly #tree: FileTree;
  #found = 0;

  constructor(tree: FileTree) {
    this.#tree = tree;
  }

  async layer(folder: string, isBase: boolean): Promise<Layer> {
    const layer: Layer = { folder, files: [], addons: [], packages: [] };
    for (const entry of await this.#tree.list(folder)) {
      if (isBase && entry.name === OVERLAYS_FOLDER && entry.type === 'folder') continue;
      if (entry.name === ADDONS_FOLDER && entry.type === 'folder') await this.#addonsIn(entry.path, layer);
      else await this.#take(entry, layer, 1);
    }
    return layer;
  }

  async overlays(root: string, cluster: ClusterIdentity): Promise<string[]> {
    const parent = (await this.#tree.list(root)).find((entry) => entry.name === OVERLAYS_FOLDER);
    if (parent === undefined || parent.type === 'file') return [];
    if (this.#isElsewhere(parent)) return [];
    const entries = await this.#tree.list(parent.path);
    const wanted = overlayNames(cluster).flatMap((name) => entries.find((entry) => entry.name === name) ?? []);
    return wanted.filter((entry) => entry.type !== 'file' && !this.#isElsewhere(entry)).map((entry) => entry.path);
  }

  async #take(entry: TreeEntry, layer: Layer, depth: number): Promise<void> {
    if (isHidden(entry.name)) return;
    if (entry.type === 'folder') await this.#descend(entry, layer, depth);
    else if (entry.type === 'file') this.#keep(entry, layer);
    else if (isYaml(entry.name) || (depth === 1 && entry.name === ADDONS_FOLDER)) this.#isElsewhere(entry);
  }

  async #descend(folder: TreeEntry, layer: Layer, depth: number): Promise<void> {
    if (depth > MAX_DEPTH) throw tooMuch(`folders nested deeper than ${MAX_DEPTH} (${folder.path})`);
    const entries = await this.#tree.list(folder.path);
    if (isRendered(entries.map((entry) => entry.name)) || this.#isPackage(folder, entries, layer)) return;
    for (const entry of entries) await this.#take(entry, layer, depth + 1);
  }

  async #addonsIn(parent: string, layer: Layer): Promise<void> {
    for (const entry of await this.#tree.list(parent)) {
      if (isHidden(entry.name)) continue;
      if (entry.type === 'file') this.#keep(entry, layer);
      if (entry.type === 'file' || this.#isElsewhere(entry)) continue;
      const entries = await this.#tree.list(entry.path);
      if (isRendered(entries.map((inner) => inner.name)) || this.#isPackage(entry, entries, layer)) continue;
      const [file, second] = entries.filter((inner) => ADDON_FILES.includes(inner.name));
      if (file !== undefined && this.#isElsewhere(file)) continue;
      if (second !== undefined) this.#refuse(second, `${file?.name} stands beside it and counts: keep one of the two`);
      if (await this.#holdsYaml(entries, 1)) layer.addons.push({ path: entry.path, file });
    }
  }

  /** Whatever is in a package is the package's. */
  #isPackage(folder: TreeEntry, entries: readonly TreeEntry[], layer: Layer): boolean {
    const file = entries.find(({ name }) => name === PACKAGE_FILE);
    if (file === undefined || file.type === 'folder') return false;
    if (!this.#isElsewhere(file)) layer.packages.push({ path: folder.path, file });
    return true;
  }

  async #holdsYaml(entries: readonly TreeEntry[], depth: number): Promise<boolean> {
    if (entries.some((entry) => entry.type === 'file' && isYaml(entry.name))) return true;
    if (depth > MAX_DEPTH) return false;
    for (const entry of entries) {
      if (entry.type !== 'folder' || isHidden(entry.name)) continue;
      if (await this.#holdsYaml(await this.#tree.list(entry.path), depth + 1)) return true;
    }
    return false;
  }

  #keep(entry: TreeEntry, layer: Layer): void {
    if (!isDeclarationFile(entry.name)) return;
    this.#found += 1;
    if (this.#found > MAX_FILES) throw tooMuch(`more than ${MAX_FILES} YAML and JSON files`);
    layer.files.push(entry);
  }

  /** A link or a submodule where a declaration could be: passing over it in silence would look like a removal. */
  #isElsewhere(entry: TreeEntry): boolean {
    if (entry.type !== 'link' && entry.type !== 'submodule') return false;
    const what = entry.type === 'link' ? 'a link' : 'a submodule';
    this.#refuse(entry, `this is ${what}, which is not followed: put the files themselves there`);
    return true;
  }

  #refuse({ path }: TreeEntry, message: string): void {
    this.faults.push({ code: 'InvalidDeclaration', file: path, line: 1, column: 1, message });
  }
}

function tooMuch(what: string): EspalierError {
  const message = `The declarations have ${what}: let spec.repository.path of the Sync name a smaller folder.`;
  return new EspalierError('InvalidDeclaration', message, { retry: false });
}
