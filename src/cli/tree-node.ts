/** How a thing of the tree is; what `-o json` prints as `state`. */
export type TreeState =
  | 'healthy'
  | 'progressing'
  | 'waiting'
  | 'failed'
  | 'held'
  | 'suspended'
  | 'terminating'
  | 'missing'
  | 'unknown';

/** A Sync, a Plugin or an object, with what hangs on it. Printed by `-o json` as it is: fields are only ever added. */
export interface TreeNode {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
  state: TreeState;
  /** Why, for people; empty when there is nothing to say. */
  message: string;
  /** Commit of a Sync, version of a Plugin. */
  revision?: string;
  /** Of a Plugin that is told apart: `system` is built in. */
  class?: string;
  /** What a Plugin waits for. */
  waitingFor?: string[];
  /** Fields of an object that somebody else changed. */
  drift?: string[];
  /** The last lines of a Job that failed. */
  logs?: string[];
  children: TreeNode[];
}
