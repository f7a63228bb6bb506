import { EspalierError, type JsonObject } from '../api/index.ts';
import type { FileTree, TreeEntry } from '../git/tree.ts';
import { type Reference, type References, rewriteKustomization } from './kustomize-rewrite.ts';
import type { RenderLimits } from './limits.ts';
import { refused } from './refuse.ts';
import { isWithin, looksRemote, relativePath, resolvePath } from './repo-path.ts';
import { missing, Reader } from './source-files.ts';
import { parseYaml } from './yaml.ts';

const FILE_NAMES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'];
const MAX_FOLDERS = 500;
/** How often kustomizations are built, one that two others refer to counting twice: a few files can ask for billions. */
const MAX_BUILDS = 2_000;

export interface ScanOptions {
  limits: RenderLimits;
  signal?: AbortSignal | undefined;
  /** Folder that no reference may leave. Absent: the repository. */
  within?: string | undefined;
}

/** All that kustomize gets to see of a repository. */
export interface KustomizeScan {
  /** Folder of the kustomization, from the repository's root. */
  root: string;
  /** Kustomization files as they are given to kustomize: every reference checked and written as a relative path. */
  kustomizations: Map<string, string>;
  /** Files that are passed on as they are. */
  files: Set<string>;
  /** Every path that the result depends on, sorted. */
  inputs: string[];
}

/**
 * Reads a kustomization and all that it builds on, before kustomize does. What can't be found in the repository at
 * this commit is refused here: remote bases, programs and containers, charts, and ways out of the repository.
 */
export async function scanKustomization(tree: FileTree, path: string, options: ScanOptions): Promise<KustomizeScan> {
  const scanner = new Scanner(tree, options);
  const root = resolvePath('', path);
  if (root === undefined || !isWithin(options.within ?? '', root)) {
    throw refused(
      path,
      `leads out of ${options.within === undefined ? 'the repository' : JSON.stringify(options.within)}`,
    );
  }
  const builds = await scanner.visit(root, []);
  if (builds > MAX_BUILDS)
    throw refused(root, `asks for ${builds} builds of kustomizations; ${MAX_BUILDS} are allowed`);
  return scanner.result(root);
}

class Scanner implements References {
  readonly #tree: FileTree;
  readonly #reader: Reader;
  readonly #options: ScanOptions;
  readonly #lists = new Map<string, Promise<TreeEntry[]>>();
  /** Folders that are done, with the number of builds that one of them asks for. */
  readonly #builds = new Map<string, number>();
  readonly #kustomizations = new Map<string, string>();
  readonly #files = new Set<string>();
  readonly #inputs = new Set<string>();

  constructor(tree: FileTree, options: ScanOptions) {
    this.#tree = tree;
    this.#options = options;
    this.#reader = new Reader(tree, options.limits, options.signal);
  }

  result(root: string): KustomizeScan {
    return { root, kustomizations: this.#kustomizations, files: this.#files, inputs: [...this.#inputs].sort() };
  }

  async visit(folder: string, stack: readonly string[]): Promise<number> {
    const done = this.#builds.get(folder);
    if (done !== undefined) return done;
    if (stack.includes(folder)) throw cycle([...stack.slice(stack.indexOf(folder)), folder]);
    if (this.#kustomizations.size >= MAX_FOLDERS)
      throw refused(folder, `is one of more than ${MAX_FOLDERS} kustomizations`);
    const file = await this.#kustomizationFile(folder);
    const { content, folders } = await rewriteKustomization(await this.#readObject(file), folder, file, this);
    this.#kustomizations.set(file, content);
    this.#inputs.add(file);
    let builds = 1;
    for (const base of folders) builds += await this.visit(base, [...stack, folder]);
    this.#builds.set(folder, builds);
    return builds;
  }

  /** Checks a reference from a kustomization. Files are remembered; folders are for the caller to visit. */
  async refer(folder: string, reference: unknown, file: string): Promise<Reference> {
    if (typeof reference !== 'string' || reference === '') throw refused(file, 'has a reference that is no text');
    const shown = JSON.stringify(reference);
    const path = reference.startsWith('/') ? undefined : resolvePath(folder, reference);
    const type = path === undefined ? undefined : await this.#typeOf(path);
    if (type === undefined && looksRemote(reference)) {
      throw refused(file, `refers to ${shown}: only files of the same commit are read, nothing is fetched`);
    }
    const { within } = this.#options;
    if (path === undefined || !isWithin(within ?? '', path)) {
      throw refused(
        file,
        `refers to ${shown}, which leads out of ${within === undefined ? 'the repository' : JSON.stringify(within)}`,
      );
    }
    if (type === undefined) {
      throw new EspalierError('SourceMissing', `${file} refers to ${shown}, which does not exist at this commit`);
    }
    if (type !== 'file' && type !== 'folder')
      throw refused(file, `refers to ${shown}, a ${type}; links and submodules are not followed`);
    if (type === 'file' && !isWithin(folder, path)) {
      throw refused(
        file,
        `refers to the file ${shown} outside its own folder; refer to a folder with a kustomization instead`,
      );
    }
    return { type, path, written: relativePath(folder, path) };
  }

  /** A file that kustomize shall see as it is. */
  take(path: string): void {
    this.#files.add(path);
    this.#inputs.add(path);
    if (this.#files.size > this.#options.limits.files)
      throw refused(path, `is one of more than ${this.#options.limits.files} files`);
  }

  /** The text of a file that the scan itself looks into. */
  async read(path: string): Promise<string> {
    this.#inputs.add(path);
    return this.#reader.text(path);
  }

  async #readObject(file: string): Promise<JsonObject> {
    const documents = parseYaml(await this.read(file), file);
    const value = documents[0]?.value;
    if (documents.length !== 1 || typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new EspalierError('RenderFailed', `${file} must hold one kustomization`, { data: { file }, retry: false });
    }
    return value as JsonObject; // the parser makes nothing but JSON
  }

  async #kustomizationFile(folder: string): Promise<string> {
    const entries = await this.#list(folder);
    const found = entries.filter((entry) => FILE_NAMES.includes(entry.name));
    const [first, second] = found;
    if (first === undefined) {
      if (entries.length === 0) throw missing(folder, this.#tree);
      throw new EspalierError(
        'RenderFailed',
        `${folder === '' ? 'The repository' : folder} has no kustomization.yaml`,
        { retry: false },
      );
    }
    if (second !== undefined) throw refused(folder, `has both ${first.name} and ${second.name}`);
    if (first.type !== 'file') throw refused(first.path, `is a ${first.type}, which is not followed`);
    return first.path;
  }

  /** What is at a path, through folders only: whatever is below a link does not exist. */
  async #typeOf(path: string): Promise<TreeEntry['type'] | undefined> {
    let type: TreeEntry['type'] = 'folder';
    let at = '';
    for (const name of path === '' ? [] : path.split('/')) {
      if (type !== 'folder') return type === 'file' ? undefined : type;
      const entry = (await this.#list(at)).find((one) => one.name === name);
      if (entry === undefined) return undefined;
      type = entry.type;
      at = entry.path;
    }
    return type;
  }

  #list(folder: string): Promise<TreeEntry[]> {
    const known = this.#lists.get(folder) ?? this.#tree.list(folder);
    this.#lists.set(folder, known);
    return known;
  }
}

function cycle(folders: readonly string[]): EspalierError {
  return new EspalierError(
    'RenderRefused',
    `Kustomizations include each other: ${folders.map((folder) => folder || '.').join(' → ')}`,
    {
      data: { folders },
      retry: false,
    },
  );
}
