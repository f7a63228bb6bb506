import { isError } from '../api/index.ts';
import type { FileTree } from '../git/tree.ts';
import { scanKustomization } from './kustomize-scan.ts';
import { DEFAULT_RENDER_LIMITS } from './limits.ts';
import { type Rendered, refuseDuplicates, toObjects } from './rendered.ts';
import { resolvePath } from './repo-path.ts';
import { filesBelow, Reader } from './source-files.ts';
import { parseYaml } from './yaml.ts';

/** Something that will not render, and where. Line and column are 1 where nothing more is known. */
export interface SourceFault {
  file: string;
  line: number;
  column: number;
  message: string;
}

/** What is wrong with a folder of manifests as far as no program is needed to see it: all of it, and not the first alone. */
export async function manifestFaults(tree: FileTree, path: string): Promise<SourceFault[]> {
  const found = new Findings(tree);
  await found.trying(path, async () => {
    for (const { path: file, name } of await filesBelow(tree, path, DEFAULT_RENDER_LIMITS))
      if (/\.ya?ml$/i.test(name)) await found.readObjects(file);
  });
  await found.trying(path, async () => refuseDuplicates(found.objects));
  return found.faults;
}

/** The same of a kustomization: what it refers to, and the objects that it takes as they are. */
export async function kustomizationFaults(tree: FileTree, path: string): Promise<SourceFault[]> {
  const found = new Findings(tree);
  await found.trying(path, async () => {
    const { kustomizations, files } = await scanKustomization(tree, path, { limits: DEFAULT_RENDER_LIMITS });
    for (const [file, text] of kustomizations) {
      const [kustomization] = parseYaml(text, file);
      const { resources = [] } = (kustomization?.value ?? {}) as { resources?: string[] };
      const folder = file.split('/').slice(0, -1).join('/');
      for (const resource of resources) {
        const at = resolvePath(folder, resource) ?? '';
        if (files.has(at)) await found.readObjects(at);
      }
    }
  });
  return found.faults;
}

class Findings {
  readonly faults: SourceFault[] = [];
  readonly objects: Rendered[] = [];
  readonly #reader: Reader;
  readonly #read = new Set<string>();

  constructor(tree: FileTree) {
    this.#reader = new Reader(tree, DEFAULT_RENDER_LIMITS, undefined);
  }

  async readObjects(file: string): Promise<void> {
    if (this.#read.has(file)) return;
    this.#read.add(file);
    await this.trying(file, async () => {
      const documents = parseYaml(await this.#reader.text(file), file);
      for (const document of documents)
        await this.trying(file, async () => {
          this.objects.push(...toObjects([document], (line) => `${file}:${line}`));
        });
    });
  }

  async trying(file: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isError(error)) throw error;
      this.faults.push(located(error.message, error.data, file));
    }
  }
}

const PLACE = /^([^\s:]+)(?::(\d+)(?::(\d+))?:?)?(?=\s|$)/;

/** Messages begin with their place. Of what is declared twice, the second place is at fault. */
function located(message: string, { files }: Record<string, unknown>, about: string): SourceFault {
  const twice = Array.isArray(files) ? String(files.at(-1)) : undefined;
  const [place = '', file = '', line, column] = PLACE.exec(twice ?? message) ?? [];
  const isPlace = line !== undefined || file === about || file.startsWith(`${about}/`);
  return {
    file: isPlace ? file : about,
    line: Number(line ?? 1),
    column: Number(column ?? 1),
    message: isPlace && twice === undefined ? message.slice(place.length).trimStart() : message,
  };
}
