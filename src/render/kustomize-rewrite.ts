import type { Json, JsonObject } from '../api/index.ts';
import {
  BUILTIN_PLUGINS,
  ENTRY_FIELDS,
  type EntryShape,
  PLAIN_FIELDS,
  PLUGIN_FIELDS,
  REFERENCE_FIELDS,
  REFUSED_FIELDS,
} from './kustomize-fields.ts';
import { refused } from './refuse.ts';
import { parseYaml } from './yaml.ts';

export interface Reference {
  type: 'file' | 'folder';
  /** From the root of the repository. */
  path: string;
  /** How kustomize gets to see it. */
  written: string;
}

/** Looks references up in the repository, and refuses those that can't be followed. */
export interface References {
  refer(folder: string, reference: unknown, file: string): Promise<Reference>;
  /** A file that kustomize shall see as it is. */
  take(path: string): void;
  /** The text of a file that is passed on in another form. */
  read(path: string): Promise<string>;
}

/** The kustomization that is being rewritten, and who looks references up. */
interface Place {
  folder: string;
  file: string;
  references: References;
}

/**
 * Writes a kustomization anew, as JSON with checked references. kustomize then reads what was checked and nothing
 * else: differences between its YAML parser and ours, or between its idea of a URL and ours, have nothing to work on.
 */
export async function rewriteKustomization(
  kustomization: JsonObject,
  folder: string,
  file: string,
  references: References,
): Promise<{ content: string; folders: string[] }> {
  const place = { folder, file, references };
  const rewritten: JsonObject = {};
  const folders: string[] = [];
  for (const [field, value] of Object.entries(kustomization)) {
    if (value === null) continue;
    const target = REFERENCE_FIELDS.get(field);
    if (target !== undefined)
      rewritten[field] = await rewriteReferences(listOf(value, field, file), target, place, folders);
    else rewritten[field] = await rewriteField(field, value, place);
  }
  return { content: `${JSON.stringify(rewritten, undefined, 1)}\n`, folders };
}

async function rewriteField(field: string, value: Json, place: Place): Promise<Json> {
  const { file } = place;
  if (PLAIN_FIELDS.has(field)) return value;
  const why = REFUSED_FIELDS.get(field);
  if (why !== undefined) throw refused(file, `has ${field}: ${why}`);
  const shape = ENTRY_FIELDS.get(field);
  if (shape !== undefined) {
    return Promise.all(listOf(value, field, file).map((entry) => rewriteEntry(entry, shape, field, place)));
  }
  if (PLUGIN_FIELDS.has(field)) {
    return (await Promise.all(listOf(value, field, file).map((entry) => rewritePlugin(entry, field, place)))).flat();
  }
  if (field === 'openapi') return rewriteEntry(value, { fields: ['path', 'version'], files: ['path'] }, field, place);
  if (field === 'patchesStrategicMerge') {
    return Promise.all(listOf(value, field, file).map((patch) => rewriteMergePatch(patch, place)));
  }
  throw refused(file, `has an unknown field ${JSON.stringify(field)}`);
}

async function rewriteReferences(
  values: Json[],
  target: 'file' | 'folder' | 'any',
  place: Place,
  folders: string[],
): Promise<Json> {
  const written: Json[] = [];
  for (const value of values) {
    const found = await place.references.refer(place.folder, value, place.file);
    if (target !== 'any' && target !== found.type) {
      throw refused(place.file, `refers to ${JSON.stringify(value)}, a ${found.type}, where a ${target} belongs`);
    }
    if (found.type === 'folder') folders.push(found.path);
    else place.references.take(found.path);
    written.push(found.written);
  }
  return written;
}

async function rewriteEntry(entry: Json, shape: EntryShape, field: string, place: Place): Promise<JsonObject> {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    throw refused(place.file, `has an entry of ${field} that is no map`);
  const rewritten: JsonObject = {};
  for (const [name, value] of Object.entries(entry)) {
    if (!shape.fields.includes(name))
      throw refused(place.file, `has an unknown field ${JSON.stringify(name)} in ${field}`);
    rewritten[name] = shape.files.includes(name) && value !== null ? await rewriteFiles(value, place) : value;
  }
  return rewritten;
}

/** One file or a list of them, each with or without a key of its own: `key=path`. */
async function rewriteFiles(value: Json, place: Place): Promise<Json> {
  if (Array.isArray(value)) return Promise.all(value.map((item) => rewriteFiles(item, place)));
  if (typeof value !== 'string') throw refused(place.file, 'has a reference that is no text');
  const equals = value.indexOf('=');
  const found = await place.references.refer(place.folder, value.slice(equals + 1), place.file);
  if (found.type !== 'file')
    throw refused(place.file, `refers to ${JSON.stringify(value)}, a folder, where a file belongs`);
  place.references.take(found.path);
  return value.slice(0, equals + 1) + found.written;
}

/** A patch inline, or the path of one. */
async function rewriteMergePatch(patch: Json, place: Place): Promise<Json> {
  if (typeof patch !== 'string') throw refused(place.file, 'has an entry of patchesStrategicMerge that is no text');
  if (!isInline(patch)) return rewriteFiles(patch, place);
  return parseYaml(patch, place.file)
    .map((document) => JSON.stringify(document.value))
    .join('\n---\n');
}

/** Configurations of plugins are read here and passed on inline, so that their references are checked as well. */
async function rewritePlugin(entry: Json, field: string, place: Place): Promise<string[]> {
  if (typeof entry !== 'string') throw refused(place.file, `has an entry of ${field} that is no text`);
  let [text, origin] = [entry, place.file];
  if (!isInline(entry)) {
    const found = await place.references.refer(place.folder, entry, place.file);
    if (found.type !== 'file')
      throw refused(place.file, `has a folder in ${field}: ${JSON.stringify(entry)}; name the files`);
    text = await place.references.read(found.path);
    origin = found.path;
  }
  const configs: string[] = [];
  for (const { value } of parseYaml(text, origin)) {
    configs.push(JSON.stringify(await rewritePluginConfig(value as Json, origin, place)));
  }
  return configs;
}

async function rewritePluginConfig(config: Json, origin: string, place: Place): Promise<JsonObject> {
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw refused(origin, 'is no configuration of a plugin');
  const { apiVersion, kind, metadata } = config;
  const files = typeof kind === 'string' ? BUILTIN_PLUGINS.get(kind) : undefined;
  if (apiVersion !== 'builtin' || files === undefined) {
    throw refused(
      origin,
      `asks for the plugin ${JSON.stringify(kind ?? null)} (${JSON.stringify(apiVersion ?? null)}): only plugins that are part of kustomize are run, no programs, containers or charts`,
    );
  }
  if (JSON.stringify(metadata ?? {}).includes('/function"'))
    throw refused(origin, 'asks for a function: programs and containers are not run');
  const rewritten: JsonObject = {};
  const guarded = [...files, 'replacements'];
  for (const [name, value] of Object.entries(config)) {
    // kustomize takes `Path`, and more, for `path`.
    const isOther = !/^[A-Za-z0-9_-]+$/.test(name) || (!guarded.includes(name) && guarded.includes(name.toLowerCase()));
    if (isOther) throw refused(origin, `has an unknown field ${JSON.stringify(name)}`);
    rewritten[name] = files.includes(name) && value !== null ? await rewriteFiles(value, place) : value;
  }
  if (kind === 'ReplacementTransformer' && rewritten.replacements !== undefined) {
    const shape: EntryShape = { fields: ['path', 'source', 'targets'], files: ['path'] };
    rewritten.replacements = await Promise.all(
      listOf(rewritten.replacements, 'replacements', origin).map((entry) =>
        rewriteEntry(entry, shape, 'replacements', place),
      ),
    );
  }
  return rewritten;
}

function isInline(text: string): boolean {
  return /\n|^\s*\{|:\s/.test(text);
}

function listOf(value: Json, field: string, file: string): Json[] {
  if (!Array.isArray(value)) throw refused(file, `has ${field} that is no list`);
  return value;
}
