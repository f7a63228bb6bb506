import {
  describeRef,
  EspalierError,
  GROUP,
  groupOf,
  type Json,
  type KubeObject,
  LABEL,
  matchesTarget,
  type Patch,
  refKey,
  refOf,
} from '../api/index.ts';
import type { ImageField } from '../images/fields.ts';
import { mapImages } from '../images/find.ts';
import { type ImageRule, rewriteImage } from '../images/rules.ts';
import { mergePatch } from './merge-patch.ts';

/** Where objects of a kind live; `unknown` while nobody serves the kind. */
export type Scope = 'Namespaced' | 'Cluster' | 'unknown';

export interface FinishOptions {
  plugin: { metadata: { name: string; namespace?: string } };
  /** For namespaced objects that name no namespace. */
  targetNamespace: string;
  createNamespace: boolean;
  /** Objects that nobody owns, such as hooks, carry no labels of ours. */
  unlabelled?: boolean;
  /** Hooks of different events may be one object. */
  mayRepeat?: boolean;
  patches: readonly Patch[];
  images: { rewrite: readonly ImageRule[]; fields: readonly ImageField[] };
  scopeOf(object: KubeObject): Scope;
}

export interface Finished {
  objects: KubeObject[];
  /** Keys of objects that need only exist: a namespace that is asked for, not declared. */
  ensure: Set<string>;
  /** Objects of kinds that nobody serves yet: whether they get the namespace is to be decided again, so don't cache. */
  undecided: KubeObject[];
  warnings: string[];
}

/** What the API server keeps for itself: it would be refused, ignored, or fought over. */
const SERVER_METADATA = new Set([
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'generateName',
  'generation',
  'managedFields',
  'resourceVersion',
  'selfLink',
  'uid',
]);

/**
 * Rendered objects as they are applied: without what the server keeps for itself, patched, with images rewritten, in
 * their namespace, labelled as the Plugin's. Changes nothing that it was given.
 */
export function finishObjects(rendered: readonly KubeObject[], options: FinishOptions): Finished {
  const warnings: string[] = [];
  const undecided: KubeObject[] = [];
  const matched = new Set<Patch>();
  const objects = rendered.map((object) => {
    const patched = applyPatches(withoutServerFields(object), options.patches, matched);
    const placed = placeInNamespace(rewriteImages(patched, options), options);
    if (placed.metadata.namespace === undefined && options.scopeOf(placed) === 'unknown') undecided.push(placed);
    return options.unlabelled === true ? placed : labelled(placed, options);
  });
  const ensure = new Set<string>();
  if (options.createNamespace) {
    const namespace = labelled(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: options.targetNamespace } },
      options,
    );
    const key = refKey(refOf(namespace));
    if (!objects.some((object) => refKey(refOf(object)) === key)) {
      objects.unshift(namespace);
      ensure.add(key);
    }
  }
  if (options.mayRepeat !== true) refuseTwice(objects);
  for (const patch of options.patches) {
    if (!matched.has(patch)) warnings.push(`no object matches the patch of ${JSON.stringify(patch.target)}`);
  }
  return { objects, ensure, undecided, warnings };
}

function withoutServerFields(object: KubeObject): KubeObject {
  const { status: _, ...rest } = object;
  const metadata = Object.entries(object.metadata).filter(([name]) => !SERVER_METADATA.has(name));
  return { ...rest, metadata: { ...Object.fromEntries(metadata), name: object.metadata.name } };
}

function applyPatches(object: KubeObject, patches: readonly Patch[], matched: Set<Patch>): KubeObject {
  let patched = object;
  for (const patch of patches) {
    if (!matchesTarget(patched, patch.target)) continue;
    matched.add(patch);
    const next = mergePatch(patched as unknown as Json, patch.merge) as unknown as KubeObject;
    if (identityOf(next) !== identityOf(patched)) {
      const message = `The patch of ${JSON.stringify(patch.target)} would make ${describeRef(refOf(patched))} another object; patches can't change apiVersion, kind, name or namespace`;
      throw new EspalierError('RenderFailed', message, { retry: false });
    }
    patched = next;
  }
  return patched;
}

/** A patch may also break what makes it an object at all. */
function identityOf(object: Partial<KubeObject>): string {
  const { name, namespace } = object.metadata ?? {};
  return JSON.stringify([object.apiVersion, object.kind, name, namespace]);
}

function rewriteImages(object: KubeObject, { images }: FinishOptions): KubeObject {
  if (images.rewrite.length === 0) return object;
  return mapImages(object, (image) => rewriteImage(image, images.rewrite) ?? image, images.fields);
}

function placeInNamespace(object: KubeObject, { scopeOf, targetNamespace }: FinishOptions): KubeObject {
  const { namespace, ...metadata } = object.metadata;
  const scope = scopeOf(object);
  if (scope === 'Namespaced' && (namespace ?? '') === '')
    return { ...object, metadata: { ...metadata, namespace: targetNamespace } };
  if (namespace !== undefined && (scope === 'Cluster' || namespace === '')) return { ...object, metadata };
  return object;
}

function labelled(object: KubeObject, { plugin }: FinishOptions): KubeObject {
  const { name, namespace = '' } = plugin.metadata;
  const { [LABEL.sync]: _, [LABEL.syncNamespace]: __, ...own } = object.metadata.labels ?? {};
  // What is rendered can't pass for something that a Sync wrote.
  const kept = groupOf(object.apiVersion) === GROUP ? own : object.metadata.labels;
  const labels = { ...kept, [LABEL.plugin]: name, [LABEL.pluginNamespace]: namespace };
  return { ...object, metadata: { ...object.metadata, labels } };
}

/** Two that were written apart, one with the namespace and one without, may turn out to be one. */
function refuseTwice(objects: readonly KubeObject[]): void {
  const seen = new Set<string>();
  for (const object of objects) {
    const ref = refOf(object);
    if (seen.has(refKey(ref))) {
      throw new EspalierError('RenderFailed', `${describeRef(ref)} is declared twice`, {
        data: { object: describeRef(ref) },
        retry: false,
      });
    }
    seen.add(refKey(ref));
  }
}
