import type { KubeObject } from '../api/index.ts';
import type { Fault, Place } from './fault.ts';

/** What a commit declares for one cluster. */
export interface Declarations {
  objects: Declared[];
  /** Everything that is wrong, in the order of files and lines. */
  faults: Fault[];
  /** Objects that are declared, but not in a way that can be used: what they are now must stay. */
  refused: Refused[];
  /** Files and folders that could not be read: nothing that came from them may change. */
  brokenFiles: string[];
  /** Files with a document of which it isn't known what it declares: nothing that came from them may be removed. */
  uncertainFiles: string[];
}

export interface Declared {
  /** `refKey` of the object. */
  key: string;
  /**
   * As people wrote it, overlays applied; defaults are not filled in. `source.git.tree` is set, `commit` is not. What is
   * deep inside is shared with later reads: copy before changing it.
   */
  object: KubeObject;
  /** Where its base declaration begins. */
  origin: Origin;
  /** Every document it is made of: the origin, then the overlays. */
  parts: Origin[];
  /** Hash of all that it is made of, content of the folders it names included. */
  inputs: string;
  /** Those folders and files, from the root of the repository. */
  paths: string[];
  /** Where a field (JSON pointer) is written, or where it would be. */
  locate(pointer: string): Origin;
}

export interface Origin extends Place {
  file: string;
}

export interface Refused {
  key: string;
  /** Why, for people: the first fault. */
  why: string;
}
