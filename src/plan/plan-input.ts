import type { Deletion, InventoryEntry, KubeObject } from '../api/index.ts';
import type { MaskOptions } from './mask.ts';
import type { FieldConflict } from './object-plan.ts';
import type { OnceWish } from './once.ts';

/** What the API server answered to a dry run of the apply: the object as it would be, or why not. */
export type Prediction = KubeObject | { refused: string } | { conflicts: readonly FieldConflict[] };

export interface PlanRules {
  readonly deletion: Deletion;
  /** Take over objects that exist and that nobody declares. */
  readonly adopt: boolean;
  /** Take over fields that other managers hold. */
  readonly force: boolean;
}

/** Everything that a plan of one Plugin depends on. Keys are those of `refKey`; owners are `namespace/name`. */
export interface PlanInput {
  readonly plugin: { readonly namespace: string; readonly name: string };
  /** Rendered, finished (namespaces, ownership labels) and without ignored fields; each object once. */
  readonly desired: readonly KubeObject[];
  /** Of all desired and recorded objects, those that exist. A key that is missing is known to be absent. */
  readonly live: ReadonlyMap<string, KubeObject>;
  readonly predicted?: ReadonlyMap<string, Prediction>;
  readonly record: readonly InventoryEntry[];
  readonly rules: PlanRules;
  /** False while something of the revision could not be read or rendered: then nothing is deleted. */
  readonly revisionComplete: boolean;
  /** Why nothing is deleted then, where more is known than that. */
  readonly whyIncomplete?: string;
  /** True when the Plugin itself goes away: `deletion.policy` applies. */
  readonly removing?: boolean;
  /** Desired objects that need only exist, such as a namespace that several plugins ask for. */
  readonly ensure?: ReadonlySet<string>;
  readonly mask?: MaskOptions;
  /** Desired objects that run once, by reference key. */
  readonly once?: ReadonlyMap<string, OnceWish>;

  /** Another Plugin that declares the object now. */
  elsewhere?(key: string): string | undefined;
  /** Another Plugin whose record holds an object that does not exist yet: it came first. */
  recordedElsewhere?(key: string): string | undefined;
  /** Whether the Plugin that an object is labelled with still declares it. Assumed true when nobody can tell. */
  ownerStillDeclares?(owner: string, key: string): boolean;
  /** Objects that the agent itself is made of. They are never deleted. */
  isAgent?(object: KubeObject): boolean;
  /** How many objects of a CustomResourceDefinition exist. Anything but a number: nobody knows, so it stays. */
  instancesOf?(crdName: string): number | 'unknown' | undefined;
  /** Another Plugin with objects in the namespace. */
  namespaceUsedBy?(namespace: string): string | undefined;
  /** Names of the volume claims in a namespace that may go, whoever made them. Asked where volumes must stay. */
  claimsIn?(namespace: string): readonly string[] | 'unknown' | undefined;
}
