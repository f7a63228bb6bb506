import type { Json, JsonObject } from '../../api/index.ts';
import { at, isMap, listAt, mapAt, present, textAt } from './read.ts';

/** A patch of kustomize: a strategic merge patch or a list of JSON patch operations, as text or inline. */
export interface KustomizePatch {
  patch?: string;
  target?: JsonObject;
}

export type PatchOutcome = { patches: JsonObject[] } | { why: string };

/**
 * The merge patches (RFC 7396) that do the same to every object. What depends on the lists of the object it meets,
 * such as a patch of one container, has no such form.
 */
export function mergePatchesOf({ patch, target }: KustomizePatch, parseYaml: (text: string) => Json[]): PatchOutcome {
  let documents: Json[];
  try {
    documents = parseYaml(patch ?? '').filter((document) => document !== null);
  } catch {
    return { why: 'it is no YAML' };
  }
  const [first, ...others] = documents;
  if (first === undefined) return { why: 'it is empty, or a file' };
  if (Array.isArray(first)) {
    if (target === undefined) return { why: 'it names no target' };
    return together(
      first.map((operation) => fromOperation(operation)),
      [target],
    );
  }
  if (target !== undefined && others.length > 0) return { why: 'it has several documents and one target' };
  const each = documents.map((document) => (isMap(document) ? fromMerge(document) : { why: 'it is no map' }));
  return together(each, target === undefined ? documents.map(ownTarget) : [target]);
}

type Merge = { merge: JsonObject } | { why: string };

function together(merges: readonly Merge[], targets: readonly JsonObject[]): PatchOutcome {
  const patches: JsonObject[] = [];
  for (const [index, merge] of merges.entries()) {
    if ('why' in merge) return merge;
    const target = targetOf(targets[targets.length === 1 ? 0 : index]);
    if (target === undefined) return { why: 'its target is chosen by a regular expression or by annotations' };
    patches.push({ target, merge: merge.merge });
  }
  return { patches };
}

function ownTarget(document: Json): JsonObject {
  const [version = '', group] = (textAt(document, 'apiVersion') ?? '').split('/').reverse();
  return present({
    group: group ?? '',
    version,
    kind: textAt(document, 'kind'),
    name: textAt(document, 'metadata', 'name'),
    namespace: textAt(document, 'metadata', 'namespace'),
  });
}

/** In kustomize name and namespace are regular expressions. Undefined when one is more than a name. */
function targetOf(target: JsonObject | undefined): JsonObject | undefined {
  if (target === undefined || textAt(target, 'annotationSelector') !== undefined) return undefined;
  const found: Record<string, string | undefined> = {};
  for (const field of ['group', 'version', 'kind', 'name', 'namespace', 'labelSelector']) {
    const value = at(target, field);
    if (typeof value !== 'string' || value === '.*' || (value === '' && field !== 'group')) continue;
    if ((field === 'name' || field === 'namespace') && !/^[A-Za-z0-9.:-]+$/.test(value)) return undefined;
    found[field] = value;
  }
  return present(found);
}

function fromMerge(document: JsonObject): Merge {
  const { apiVersion: _, kind: __, metadata, ...rest } = document;
  const { name: ___, namespace: ____, ...meta } = isMap(metadata) ? metadata : {};
  const merge = { ...rest, ...(Object.keys(meta).length === 0 ? {} : { metadata: meta }) };
  const why = whyNotPlain(merge);
  if (why !== undefined) return { why };
  return { merge };
}

/** Lists of maps are merged by keys that only the API server knows; `$patch` is an order to do so otherwise. */
function whyNotPlain(value: Json): string | undefined {
  if (Array.isArray(value))
    return value.some((one) => typeof one === 'object') ? 'it changes items of a list' : undefined;
  if (!isMap(value)) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    if (name.startsWith('$') || name === 'finalizers') return `it has ${name}`;
    const why = whyNotPlain(inner);
    if (why !== undefined) return why;
  }
  return undefined;
}

function fromOperation(operation: Json): Merge {
  const [op, path] = [textAt(operation, 'op'), textAt(operation, 'path')];
  if (path === undefined || (op !== 'add' && op !== 'replace' && op !== 'remove'))
    return { why: `it has ${op ?? 'no op'}` };
  const names = path
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (names.some((name) => name === '-' || /^\d+$/.test(name))) return { why: 'it changes items of a list' };
  const value = op === 'remove' ? null : (at(operation, 'value') as Json | undefined);
  if (value === undefined || isMap(value)) return { why: 'it replaces a map as a whole' };
  return { merge: names.reduceRight<Json>((inner, name) => ({ [name]: inner }), value) as JsonObject };
}

/** The patches of a list, each with where it stands. */
export function patchesAt(spec: unknown, ...path: string[]): KustomizePatch[] {
  return listAt(spec, ...path).map((one): KustomizePatch => {
    const [patch, target] = [textAt(one, 'patch'), mapAt(one, 'target')];
    return { ...(patch === undefined ? {} : { patch }), ...(target === undefined ? {} : { target }) };
  });
}
