import type { JsonObject, ObjectRef } from '../api/index.ts';
import type { Fault, TextFault } from './fault.ts';
import { type Identity, identify, nameOf } from './identity.ts';
import { formOf } from './kubegems.ts';
import { mergePatch } from './merge.ts';
import type { ParsedDeclaration } from './parse.ts';

/** One document and where it stands. */
export interface Part extends ParsedDeclaration {
  file: string;
}

/** The documents of the base or of one overlay. */
export interface LayerParts {
  folder: string;
  parts: Part[];
}

/** One object on its way through the layers. */
export interface Draft {
  ref: ObjectRef;
  key: string;
  /** The documents it is made of, the base first. */
  parts: Part[];
  /** The merged declaration; undefined once an overlay took it out. */
  value: JsonObject | undefined;
  /** True when no part is of the base: an overlay added it. */
  added: boolean;
  faults: Fault[];
}

export interface Drafts {
  drafts: Map<string, Draft>;
  /** Faults of documents that belong to no object. */
  faults: Fault[];
  /** Files that hold a document of which it isn't known what it declares. */
  uncertainFiles: string[];
}

/** Lays the overlays over the base, object by object. */
export function draftObjects(layers: readonly LayerParts[], namespace: string): Drafts {
  const result: Drafts = { drafts: new Map(), faults: [], uncertainFiles: [] };
  layers.forEach((layer, depth) => {
    const before = new Map(result.drafts);
    const here = new Map<string, Part>();
    for (const part of layer.parts) {
      const identity = meant(part, before, namespace);
      if ('fault' in identity) {
        result.faults.push(faultOf(part, identity.fault));
        result.uncertainFiles.push(part.file);
        continue;
      }
      const draft = draftFor(result.drafts, identity, depth > 0);
      const twin = here.get(identity.key);
      if (twin === undefined) here.set(identity.key, part);
      else addDuplicate(draft, identity, twin, part);
      layOver(draft, identity, part, depth > 0 && twin === undefined);
    }
  });
  return result;
}

/**
 * The object that a document is about. In an overlay the namespace may be left out: it is that of the one object below
 * that has this kind and name.
 */
function meant(part: Part, below: ReadonlyMap<string, Draft>, namespace: string): Identity | { fault: TextFault } {
  const identity = identify(part, namespace);
  if ('fault' in identity || identity.exact || below.has(identity.key)) return identity;
  const { kind, name } = identity.ref;
  const alike = [...below.values()].filter(({ ref }) => ref.kind === kind && ref.name === name);
  const [only] = alike;
  if (only === undefined) return identity;
  if (alike.length === 1) return { ref: only.ref, key: only.key, exact: true };
  const expected = `metadata.namespace: ${alike.map(({ ref }) => ref.namespace).join(' or ')}`;
  const { line, column } = part.locate('/metadata');
  const message = `does not say which ${kind} ${name} it is about, expected ${expected}`;
  return { fault: { line, column, path: '/metadata', message, expected } };
}

function draftFor(drafts: Map<string, Draft>, identity: Identity, added: boolean): Draft {
  const known = drafts.get(identity.key);
  if (known !== undefined) return known;
  const draft: Draft = { ref: identity.ref, key: identity.key, parts: [], value: undefined, added, faults: [] };
  drafts.set(identity.key, draft);
  return draft;
}

function layOver(draft: Draft, identity: Identity, part: Part, isOverlay: boolean): void {
  const object = nameOf(identity);
  const [first] = draft.parts;
  if (isOverlay && first !== undefined && first.value.apiVersion !== part.value.apiVersion) {
    const message = `this overlay is ${formOf(part.value)}, but lies over ${formOf(first.value)} (${first.file}:${first.line}): write both in one form`;
    draft.faults.push(faultOf(part, { ...part.locate('/apiVersion'), path: '/apiVersion', message }, object));
  }
  draft.parts.push(part);
  draft.faults.push(...part.faults.map((fault) => faultOf(part, fault, object)));
  if (isOverlay && part.value.spec === null) {
    if (draft.value === undefined) {
      const message = 'spec: null takes the object out, but nothing below this overlay declares it';
      draft.faults.push(faultOf(part, { ...part.locate('/spec'), path: '/spec', message }, object));
    }
    draft.value = undefined;
    return;
  }
  draft.value = draft.value === undefined || !isOverlay ? part.value : mergePatch(draft.value, part.value);
}

function addDuplicate(draft: Draft, identity: Identity, first: Part, second: Part): void {
  const object = nameOf(identity);
  const at = (part: Part): string => `${part.file}:${part.line}`;
  const say = (here: Part, there: Part): Fault => ({
    ...faultOf(
      here,
      { line: here.line, column: here.column, message: `declared again at ${at(there)}: remove one of the two` },
      object,
    ),
    code: 'DuplicateDeclaration',
  });
  draft.faults.push(say(first, second), say(second, first));
}

/** A fault of a text, with the file and the object it is about. */
export function faultOf(part: { file: string }, fault: TextFault, object?: string): Fault {
  const { line, column, message, path, expected } = fault;
  return {
    code: 'InvalidDeclaration',
    file: part.file,
    line,
    column,
    message,
    ...(path === undefined ? {} : { path }),
    ...(expected === undefined ? {} : { expected }),
    ...(object === undefined ? {} : { object }),
  };
}
