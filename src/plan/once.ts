import { ANNOTATION, groupOf, type InventoryEntry, type KubeObject, type ObjectRef } from '../api/index.ts';
import type { FieldChange } from './changes.ts';

/** What is asked of an object that runs once. */
export interface OnceWish {
  /** The value of its annotation. */
  key: string;
  /** It is declared otherwise than it was applied. */
  changed: boolean;
  /** It failed, and somebody asks for another run. */
  rerun: boolean;
}

/** The key under which an object, declared or live, runs once. */
export function onceKeyOf({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[ANNOTATION.once];
}

/** Whether it has run for a key. From then on it is nobody's concern what became of it, or how it is declared. */
export function hasRun({ once }: Pick<InventoryEntry, 'once'>, key: string | undefined): boolean {
  return once?.at !== undefined && once.key === key;
}

/** Whether it has run for the key that it was applied for last. */
export function isRunOver({ once }: Pick<InventoryEntry, 'once'>): boolean {
  return once?.at !== undefined;
}

/** Runs when it is created, and never again: to run anew it must be another object. */
export function runsByCreation({ apiVersion, kind }: Pick<ObjectRef, 'apiVersion' | 'kind'>): boolean {
  const group = groupOf(apiVersion);
  return (kind === 'Job' && group === 'batch') || (kind === 'Pod' && group === '');
}

/** Why an object of ours that has not run must be deleted and created anew; undefined where an apply does. */
export function whyAnew(
  live: KubeObject,
  entry: InventoryEntry | undefined,
  { key, changed, rerun }: OnceWish,
  fields: readonly FieldChange[],
): string | undefined {
  if (!runsByCreation(live)) return undefined;
  // A crash may have come between the record and the deletion: then only the object tells what it ran for.
  const before = [onceKeyOf(live), entry?.once?.key].find((one) => one !== undefined && one !== key);
  if (before !== undefined) return `it was for ${before}, and is to run for ${key}`;
  if (rerun) return 'it failed, and is asked to run again';
  const isOther = changed && fields.some(({ path }) => path === 'spec' || path.startsWith('spec.'));
  return isOther ? 'it has not run well, and is declared otherwise now' : undefined;
}
