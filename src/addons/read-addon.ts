import { type JsonObject, validateObject } from '../api/index.ts';
import { compileAddon } from '../declare/addon.ts';
import { ADDON_FILES } from '../declare/layout.ts';
import { parseAlone } from '../declare/parse.ts';
import type { FileTree } from '../git/tree.ts';
import { type AddonFile, isTemplate } from '../render/addon-chart.ts';
import { DEFAULT_RENDER_LIMITS } from '../render/limits.ts';
import { filesBelow, Reader } from '../render/source-files.ts';
import { isMap } from '../resolve/json-schema.ts';

export interface AddonFault {
  /** From the folder of the add-on. */
  file: string;
  line: number;
  column: number;
  message: string;
}

/** The folder of an add-on, read. */
export interface Addon {
  name: string;
  /** What the Plugin that it becomes says. */
  spec: JsonObject;
  class: string | undefined;
  schema: JsonObject | undefined;
  /** What its parameters are where nothing else is said. */
  defaults: JsonObject;
  files: AddonFile[];
  /** The text of addon.yaml. */
  text: string | undefined;
  faults: AddonFault[];
}

/** Reads an add-on with everything that is wrong with its addon.yaml. `folder` is its name unless it gives itself one. */
export async function readAddon(tree: FileTree, folder: string): Promise<Addon> {
  const reader = new Reader(tree, DEFAULT_RENDER_LIMITS, undefined);
  const files: AddonFile[] = [];
  for (const file of await filesBelow(tree, '', DEFAULT_RENDER_LIMITS))
    files.push({ ...file, content: await reader.bytes(file.path) });
  const described = files.find(({ name }) => ADDON_FILES.includes(name));
  const { document, broken } = described === undefined ? {} : parseAlone(described.content);
  const file = described?.name ?? 'addon.yaml';
  const part = compileAddon(folder, document === undefined ? undefined : { file, document });
  const faults: AddonFault[] = [...(broken === undefined ? [] : [broken]), ...part.faults].map((one) => ({
    file,
    ...one,
  }));
  if (faults.length === 0)
    for (const { path, message } of validateObject(part.value)) faults.push({ file, ...part.locate(path), message });
  if (!files.some(({ name }) => isTemplate(name) && !ADDON_FILES.includes(name)))
    faults.push({
      file,
      line: 1,
      column: 1,
      message: 'there is no YAML beside it: an add-on has one manifest or more',
    });
  const metadata = mapOf(part.value.metadata);
  const spec = mapOf(part.value.spec);
  const given = Object.values(mapOf(metadata.labels))[0];
  return {
    name: typeof metadata.name === 'string' ? metadata.name : folder,
    spec,
    class: typeof given === 'string' ? given : undefined,
    schema: isMap(spec.schema) ? spec.schema : undefined,
    defaults: mapOf(spec.defaults),
    files: files.filter(({ name }) => !ADDON_FILES.includes(name)),
    text: described === undefined ? undefined : Buffer.from(described.content).toString('utf8'),
    faults: faults.map(({ line, column, message }) => ({ file, line, column, message })),
  };
}

export function namespaceOf({ spec }: Addon): { name: string; create: boolean } | undefined {
  const { name, create } = mapOf(spec.namespace);
  return typeof name === 'string' ? { name, create: create === true } : undefined;
}

export function mapOf(value: unknown): JsonObject {
  return isMap(value as JsonObject) ? (value as JsonObject) : {};
}
