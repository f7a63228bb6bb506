import { isError, type JsonObject, validateObject } from '../api/index.ts';
import { compileAddon } from '../declare/addon.ts';
import type { TextFault } from '../declare/fault.ts';
import { ADDON_FILES, isRendered } from '../declare/layout.ts';
import { parseAlone } from '../declare/parse.ts';
import type { FileTree } from '../git/tree.ts';
import { type AddonFile, isTemplate } from '../render/addon-chart.ts';
import { DEFAULT_RENDER_LIMITS } from '../render/limits.ts';
import { filesBelow, Reader, type SourceFile } from '../render/source-files.ts';
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
  const found = await orItsFault(filesBelow(tree, '', DEFAULT_RENDER_LIMITS, { allAreRead: true }));
  for (const file of found.files) files.push({ ...file, content: await reader.bytes(file.path) });
  const [described, second] = files.filter(({ name }) => ADDON_FILES.includes(name));
  const { document, broken } = described === undefined ? {} : parseAlone(described.content);
  const file = described?.name ?? 'addon.yaml';
  const inFile = ({ line, column, message }: TextFault): AddonFault => ({ file, line, column, message });
  const part = compileAddon(folder, document === undefined ? undefined : { file, document });
  const faults: AddonFault[] = [...(broken === undefined ? [] : [broken]), ...part.faults].map(inFile);
  if (second !== undefined) {
    const message = `${file} stands beside it and counts: keep one of the two`;
    faults.push({ file: second.name, line: 1, column: 1, message });
  }
  if (faults.length === 0)
    for (const { path, message } of validateObject(part.value)) faults.push(inFile({ ...part.locate(path), message }));
  if (found.fault !== undefined) faults.push(found.fault);
  else if (!files.some(({ name }) => isTemplate(name) && !ADDON_FILES.includes(name)))
    faults.push({
      file: described === undefined ? '.' : file,
      line: 1,
      column: 1,
      message: `there is no YAML${described === undefined ? '' : ' beside it'}: an add-on has one manifest or more (.yaml or .yml)`,
    });
  if (files.some(({ name }) => isRendered([name])))
    faults.push({ file: '.', line: 1, column: 1, message: 'this is a chart or a kustomization, and no add-on' });
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
    faults,
  };
}

/** A link, or more than any add-on has. */
async function orItsFault(
  reading: Promise<SourceFile[]>,
): Promise<{ files: readonly SourceFile[]; fault?: AddonFault }> {
  try {
    return { files: await reading };
  } catch (error) {
    if (!isError(error)) throw error;
    const { file } = error.data;
    return {
      files: [],
      fault: { file: typeof file === 'string' ? file : '.', line: 1, column: 1, message: error.message },
    };
  }
}

export function namespaceOf({ spec }: Addon): { name: string; create: boolean } | undefined {
  const { name, create } = mapOf(spec.namespace);
  return typeof name === 'string' ? { name, create: create === true } : undefined;
}

/** Where its objects go when it is tried. */
export function placeOf(addon: Addon): string {
  return namespaceOf(addon)?.name ?? 'default';
}

export function mapOf(value: unknown): JsonObject {
  return isMap(value as JsonObject) ? (value as JsonObject) : {};
}
