import { describeRef, EspalierError, type KubeObject, refKey, refOf } from '../api/index.ts';
import type { YamlDocument } from './yaml.ts';

/** An object, and where it was written or what rendered it: `web/service.yaml:12`. */
export interface Rendered {
  object: KubeObject;
  origin: string;
}

const MAX_LIST_DEPTH = 3;
const PATTERNS = {
  apiVersion: /^([a-z0-9]([a-z0-9.-]*[a-z0-9])?\/)?[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
  kind: /^[A-Za-z][A-Za-z0-9]*$/,
  /** What may stand in a path of the API: RBAC allows colons and capitals, so no more than this is certain. */
  name: /^(?!\.{1,2}$)[^/%\s]{1,253}$/,
} as const;

/** Objects from documents: lists are expanded, and what is no Kubernetes object is refused with its place. */
export function toObjects(documents: readonly YamlDocument[], originOf: (line: number) => string): Rendered[] {
  return documents.flatMap(({ value, line }) => expandLists(value, originOf(line), 0));
}

function expandLists(value: unknown, origin: string, depth: number): Rendered[] {
  if (!isRecord(value)) throw fault(origin, 'is not a Kubernetes object but a list or a plain value');
  const { apiVersion, kind, items } = value;
  if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)) {
    if (depth === MAX_LIST_DEPTH) throw fault(origin, 'has lists inside of lists');
    // Items of a typed list may leave out what the list says: `kind: ConfigMapList`.
    const inherited = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) };
    return items.flatMap((item: unknown) =>
      expandLists(isRecord(item) ? { ...inherited, ...item } : item, origin, depth + 1),
    );
  }
  return [{ object: checkObject(value, origin), origin }];
}

function checkObject(value: Record<string, unknown>, origin: string): KubeObject {
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== 'string' || !PATTERNS.apiVersion.test(apiVersion))
    throw fault(origin, 'has no valid apiVersion');
  if (typeof kind !== 'string' || !PATTERNS.kind.test(kind)) throw fault(origin, 'has no valid kind');
  if (apiVersion.startsWith('kustomize.config.k8s.io/')) {
    throw fault(origin, `is a ${kind} file; for a folder that kustomize builds, set spec.kind: kustomize`);
  }
  if (!isRecord(metadata)) throw fault(origin, `(${kind}) has no metadata`);
  const { name, namespace, generateName } = metadata;
  if (name === undefined && generateName !== undefined) {
    throw fault(origin, `(${kind}) has generateName; what is applied again and again needs a name of its own`);
  }
  if (typeof name === 'boolean' || typeof name === 'number') {
    throw fault(origin, `(${kind}): metadata.name is a ${typeof name}; quote it`);
  }
  if (typeof name !== 'string' || !PATTERNS.name.test(name))
    throw fault(origin, `(${kind}) has no valid metadata.name`);
  if (
    namespace !== undefined &&
    namespace !== null &&
    (typeof namespace !== 'string' || !PATTERNS.name.test(namespace))
  ) {
    throw fault(origin, `(${kind} ${name}) has no valid metadata.namespace`);
  }
  for (const field of ['labels', 'annotations'])
    checkTexts(metadata[field], `${kind} ${name}`, `metadata.${field}`, origin);
  // `creationTimestamp: null` and the like say nothing.
  const said = Object.fromEntries(Object.entries(metadata).filter(([, field]) => field !== null));
  return { ...value, apiVersion, kind, metadata: { ...said, name } };
}

/** The usual mistake, `version: 1.10`, which the API server refuses with words about Go. */
function checkTexts(texts: unknown, object: string, path: string, origin: string): void {
  if (texts === undefined || texts === null) return;
  if (!isRecord(texts)) throw fault(origin, `(${object}): ${path} must be a map of texts`);
  for (const [name, text] of Object.entries(texts)) {
    if (typeof text !== 'string') {
      throw fault(
        origin,
        `(${object}): ${path} "${name}" must be text, but is ${text === null ? 'null' : `a ${typeof text}`}; quote it`,
      );
    }
  }
}

/** The same object twice in one plugin: which of the two should be applied? */
export function refuseDuplicates(rendered: readonly Rendered[]): void {
  const origins = new Map<string, string>();
  for (const { object, origin } of rendered) {
    const key = refKey(refOf(object));
    const first = origins.get(key);
    if (first !== undefined) {
      throw new EspalierError(
        'RenderFailed',
        `${describeRef(refOf(object))} is declared twice: ${first} and ${origin}`,
        {
          data: { object: describeRef(refOf(object)), files: [first, origin] },
          retry: false,
        },
      );
    }
    origins.set(key, origin);
  }
}

/** Integers that JavaScript, like every JSON reader on floats, can't hold: they would be rounded. */
export function roundedNumbers(rendered: readonly Rendered[]): string[] {
  return rendered.flatMap(({ object, origin }) => {
    const numbers: number[] = [];
    collectUnsafe(object, numbers);
    return numbers.length === 0
      ? []
      : [
          `${origin}: ${describeRef(refOf(object))} has an integer beyond 2^53 (${numbers[0]}), which is rounded; quote it if it is text`,
        ];
  });
}

function collectUnsafe(value: unknown, numbers: number[]): void {
  if (typeof value === 'number') {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) numbers.push(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) collectUnsafe(part, numbers);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fault(origin: string, what: string): EspalierError {
  return new EspalierError('RenderFailed', `${origin} ${what}`, { data: { file: origin }, retry: false });
}
