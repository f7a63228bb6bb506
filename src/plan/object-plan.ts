import type { JsonObject, ObjectRef } from '../api/index.ts';
import type { FieldChange } from './changes.ts';

/** A field that another manager holds, as the API server names it. */
export interface FieldConflict {
  field: string;
  manager: string;
}

/** An object that was asked to go and is still there. */
export interface Terminating {
  uid: string;
  since: string;
  /** Who must let it go first. */
  finalizers: readonly string[];
}

/** Why an object that is no longer declared stays. */
export type KeepReason =
  | 'agent'
  | 'crd'
  | 'namespace'
  | 'volume'
  | 'orphan'
  | 'policy'
  | 'incomplete'
  | 'replaced'
  | 'relabelled';

/** What happens to one object. The words of a plan are these and no others. */
export type Outcome =
  /**
   * `replaces`: what has its name is deleted first, by UID, because it must run anew. `ensure`: it need only exist (a shared
   * namespace), whoever creates it.
   */
  | {
      action: 'create';
      object: JsonObject;
      after?: Terminating;
      replaces?: { uid: string; why: string };
      ensure?: true;
    }
  | { action: 'change'; fields: FieldChange[] }
  /**
   * `isOurs` is false for what need only exist (a shared namespace): it is neither applied nor recorded. `once`: it has run
   * for this key, and is left alone even where it is gone; `changed`: even where it is declared otherwise now.
   */
  | { action: 'unchanged'; isOurs: boolean; once?: { key: string; at: string; changed?: true } }
  /** Taking over what exists: from another plugin that no longer declares it, or, where asked for, from nobody. */
  | { action: 'adopt'; from?: string; fields: FieldChange[] }
  /** By UID, so that a new object of the same name is never hit. `terminating`: it was asked to go already. */
  | { action: 'delete'; uid: string; terminating?: Terminating }
  /** `forget`: it also leaves the ownership record. */
  | { action: 'keep'; reason: KeepReason; why: string; forget: boolean }
  /** Another plugin declares it now; it leaves the ownership record without being touched. */
  | { action: 'moved'; to: string }
  | { action: 'conflict'; with: string; why: string; fields?: FieldConflict[] }
  /** The API server would not take it. */
  | { action: 'refused'; message: string };

export type ObjectPlan = { key: string; ref: ObjectRef } & Outcome;

export type OutcomeOf<A extends Action> = Extract<Outcome, { action: A }>;

export type Action = Outcome['action'];

/** In the order in which people want to read them. */
export const ACTIONS: readonly Action[] = [
  'refused',
  'conflict',
  'delete',
  'create',
  'adopt',
  'change',
  'moved',
  'keep',
  'unchanged',
];

export interface PluginPlan {
  plugin: { namespace: string; name: string };
  /** `namespace/name` of the Plugin that renders it. */
  nestedIn?: string;
  objects: ObjectPlan[];
  /** On record and no longer in the cluster: only the record changes. */
  gone: ObjectRef[];
  counts: Record<Action, number>;
  warnings: string[];
  /** What it is made of, before and after; only where something of it changes. */
  versions?: VersionChange[];
  /** Images that nothing of it runs yet. */
  images?: string[];
  /** Images that no rule of the Sync leads to its own registry. */
  imagesLeft?: string[];
}

/** `chart`, `app` or `version`, and how it changes. Without `from` it is new. */
export interface VersionChange {
  what: string;
  from?: string;
  to: string;
}

export function countActions(objects: readonly ObjectPlan[]): Record<Action, number> {
  const counts: Record<Action, number> = {
    create: 0,
    change: 0,
    unchanged: 0,
    adopt: 0,
    delete: 0,
    keep: 0,
    moved: 0,
    conflict: 0,
    refused: 0,
  };
  for (const object of objects) counts[object.action]++;
  return counts;
}
